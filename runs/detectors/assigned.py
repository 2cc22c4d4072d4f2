"""Values that are given to a name which says what they are: ``PASSWORD=…``, ``"api_key": "…"``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runs import encoded
from runs.detectors._base import Found, Patterns

_WORDS = (
    r"password|passwd|passphrase|pwd|secret|api[_-]?key|apikey|access[_-]?key|private[_-]?key|"
    r"client[_-]?secret|auth[_-]?token|access[_-]?token|refresh[_-]?token|credentials?|"
    r"account[_-]?key|shared[_-]?access[_-]?key|x-(?:amz|goog)-signature|sig|psk|"
    r"device[_-]?code|code[_-]?verifier|client[_-]?assertion|saml(?:request|response)|"
    r"(?:master|encryption|signing|instrumentation|license|deploy)[_-]?key"
)
_NAMED = rf"[\w.-]{{0,40}}(?:{_WORDS}|token|authorization|cookie)[\w-]{{0,12}}"
_ONE = rf"(?:(?:\b|_)(?:{_WORDS})|password|passphrase|_pass(?![a-z])|(?-i:_PAT\b))"
"""A name that ends so; what is before `password` may be joined to it."""
_QUOTED = rf"(?i){_ONE}(?:[_-]?\w{{0,12}})?"
"""Between quotes, escaped or not, a passphrase may have blanks."""
_AUTH = re.compile(
    r"(?i)(?:\b|_)auth[\"'\\]*\s*[:=]\s*[\"'\\]*(?P<secret>[A-Za-z0-9+/]{12,}={0,2})(?![\w+/])"
)
"""How registries keep user and password: as one word in base64."""


class Assigned(Patterns):
    """Passwords, secrets and keys by the name before them; user and password in addresses."""

    name = "secret"
    title = "Passwords and secrets by their name"
    patterns = (
        re.compile(
            rf"(?i){_ONE}(?:[_-]?\w{{0,12}})?[\"']?\]?\s*(?:=>|:=|[:=])\s*[\"']?"
            r"(?P<secret>[^\s\"',;&<>\\]{6,})"
        ),
        re.compile(
            _QUOTED + r"(?:\\*[\"'])?\]?\s*(?:=>|:=|[:=])\s*"
            r"(?:\[\s*|\{\s*\\*[\"']\w{1,20}\\*[\"']\s*:\s*)?(?P<quote>\\*[\"'])"
            r"(?P<secret>(?:(?!(?P=quote)).){6,200})(?:(?P=quote)|$)"
        ),
        re.compile(
            rf"(?i)--(?:{_WORDS}|token)(?:[= ]|\\*[\"'],\s*\\*[\"'])(?P<secret>[^\s\"'\\]{{4,}})"
        ),
        re.compile(
            rf"(?i)[\"'](?:name|key)\\*[\"']\s*:\s*\\*[\"']{_NAMED}\\*[\"']\s*,\s*\\*[\"']value\\*[\"']"
            r"\s*:\s*(?:\{\s*\\*[\"']\w+\\*[\"']\s*:\s*)?\\*[\"'](?P<secret>[^\"'\\]{4,})"
        ),
        re.compile(
            rf"(?i)<(?P<tag>{_NAMED})(?:\s[^<>]{{0,200}})?>(?P<secret>[^<>]{{4,200}})(?:<|$)"
        ),
        re.compile(
            r"(?i)[?&](?:key|code|auth|pass|pw|token|ticket|appid)=(?P<secret>[^\s&\"'#<>\\]{8,})"
        ),
        re.compile(r"(?i)\b\w*token[\"']?\s*[:=]\s*[\"']?(?P<secret>[A-Za-z0-9_.~+/=-]{12,})"),
        re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://(?P<secret>[^\s/@:\"']*:[^\s/@\"']{1,400})@"),
        re.compile(r"\b[a-zA-Z][a-zA-Z0-9+.-]{0,30}://(?P<secret>[A-Za-z0-9_.~-]{16,})@"),
        re.compile(r"\b\w[\w.-]{0,63}:(?P<secret>[^\s@\"'/]{3,200})@(?:tcp|unix|udp)\("),
        re.compile(
            r"\b(?:curl|wget|http)\b[^\n]{0,200}?\s(?:-u|--user|-a)[= ]?\s*[\"']?"
            r"(?P<secret>[^\s\"':-][^\s\"':]*:[^\s\"']+)"
        ),
        re.compile(r"\bsshpass\s+-p\s*[\"']?(?P<secret>[^\s\"']+)"),
        re.compile(r"\b(?:mysql|mariadb|mysqldump)\b[^\n]{0,200}?\s-p(?P<secret>[^\s\"'-]{4,})"),
        re.compile(r"\blogin\s+\S+\s+password\s+(?P<secret>\S{4,})"),
    )

    def find(self, text: str) -> Iterable[Found]:
        """By pattern; of a user and a password also the password alone."""
        for found in super().find(text):
            yield found
            user, colon, password = text[found.start : found.end].partition(":")
            if colon and user and len(password) >= 6 and self.is_secret(password):
                yield Found(found.end - len(password), found.end)
        for match in _AUTH.finditer(text):
            if any(":" in said for _, _, said in encoded.words(match["secret"])):
                yield Found(*match.span("secret"))

    def is_secret(self, value: str) -> bool:
        """Plain words and numbers (``max_token: 4096``, ``secret: none``) are none."""
        return not (
            value.isdigit() or value.lower() in _PLAIN or value.startswith(("⟨", "${", "$("))
        )


_PLAIN = frozenset({"none", "null", "true", "false", "undefined", "required", "missing", "string"})
DETECTOR = Assigned()
