"""Passwords and keys that a sentence, a table or a command line tells."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runs.detectors._base import Found, Patterns

_NAME = (
    r"(?:pass(?:word|wd|phrase|code)|\bpwd|secret|\bapi[ _-]?key|\baccess[ _-]?key|credential|"
    r"\btoken|_token|(?-i:[A-Z]_(?:KEY|PAT|PASS|PW)))s?"
)
_GLUE = r"[\s\"'`*|\]\[(){}:=,>\\]"
_VALUE = r"(?P<secret>[^\s\"'`|,;<>\\()\[\]{}]{8,200})"
_PHRASE = re.compile(
    r"(?i)\b(?:mnemonic|(?:seed|recovery|secret) (?:phrase|words))\W{1,6}"
    r"(?P<secret>(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8})"
)
_COMMANDS = (
    *("docker", "podman", "helm", "redis-cli", "ldap", "unzip", "7z", "plink", "pscp", "psftp"),
    *("putty", "pass", "smbclient", "net use", "sudo -S", "chpasswd", "://hooks."),
    *(":5432:", ":6432:"),
)
"""Without one of these a text has none of the flags."""
_LETTERS = re.compile(r"[A-Za-z]")
_TURN = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")


class Told(Patterns):
    """What stands behind a word for it and looks drawn at random; what certain flags take."""

    name = "password"
    title = "Passwords in sentences and command lines"
    patterns = (
        re.compile(
            rf"(?i){_NAME}(?:\s+(?:for|of)\s+\S{{1,40}}?)?{_GLUE}{{1,12}}"
            rf"(?:(?:is|was|as|to|value|use|stringvalue){_GLUE}{{1,8}}){{0,2}}{_VALUE}"
        ),
        re.compile(rf"(?i)\bIDENTIFIED\s+BY\s+[\"']{_VALUE}"),
        re.compile(
            r"https?://[^\s/]{3,100}/(?:[^\s?#\"']{0,100}/)?(?:reset|verify|invite|magic|confirm|"
            r"activate|hooks?|webhooks?|key)/(?:catch/\d+/)?(?P<secret>[A-Za-z0-9_-]{7,200})"
        ),
        re.compile(r"\bjdbc:oracle:thin:[^\s/@]{1,60}/(?P<secret>[^\s@\"']{4,100})@"),
    )
    flags = re.compile(
        r"\b(?:docker|podman|helm)\b[^\n]{0,40}\blogin\b[^\n]{0,200}?\s-p[= ]?"
        r"(?P<a>[^\s\"'-]\S{3,})|https?://hooks\.[\w.]+/(?P<m>[^\s\"']{8,})|"
        r":(?:5432|6432):[^\s:]{1,60}:[^\s:]{1,60}:(?P<n>[^\s:\"']{4,100})|"
        r"\bredis-cli\b[^\n]{0,200}?\s-a[= ]?(?P<b>[^\s\"'-]\S{3,})|"
        r"\bldap\w{3,8}\b[^\n]{0,200}?\s-w[= ]?(?P<c>[^\s\"'-]\S{3,})|"
        r"\bunzip\b[^\n]{0,200}?\s-P[= ]?(?P<d>[^\s\"'-]\S{3,})|"
        r"\b7z[ar]?\b[^\n]{0,200}?\s-p(?P<e>[^\s\"'-]\S{3,})|"
        r"\b(?:plink|pscp|psftp|putty)\b[^\n]{0,200}?\s-pw[= ](?P<f>\S{4,})|"
        r"\s-(?:store|key|src|dest(?:store|key)?)pass(?:word)?[= ](?P<g>[^\s\"'-]\S{3,})|"
        r"\s-?-?pass(?:in|out)?[= ]?pass:(?P<h>[^\s\"']{4,})|"
        r"\bsmbclient\b[^\n]{0,200}?\s-U\s?[^\s%]{1,60}%(?P<i>[^\s\"']{4,})|"
        r"\bnet\s+use\b[^\n]{0,100}?\s(?P<j>[^\s\"'/\\]{4,})\s+/user:|"
        r"\becho\s+[\"']?(?P<k>[^\s\"'$]{4,})[\"']?\s*\|\s*sudo\s+-S|"
        r"\becho\s+[\"']?[\w.-]{1,32}:(?P<l>[^\s\"'$]{4,})[\"']?\s*\|\s*(?:sudo\s+)?chpasswd"
    )

    def find(self, text: str) -> Iterable[Found]:
        """By pattern; what a flag takes whatever it looks like."""
        yield from super().find(text)
        if any(word in text for word in _COMMANDS):
            for match in self.flags.finditer(text):
                yield Found(*match.span(match.lastgroup or 0))
        for match in _PHRASE.finditer(text):
            yield Found(*match.span("secret"))

    def is_secret(self, value: str) -> bool:
        """Drawn at random: a word, a path, a name with a number or a version is not."""
        if "://" in value or "/" in value[:2] or value.startswith(("⟨", "$", "-")):
            return False
        digits = sum(map(str.isdigit, value))
        mixed = any(map(str.isupper, value)) and any(map(str.islower, value))
        signs = any(letter in "!#%&*+?@^~" for letter in value)
        if not digits or not _LETTERS.search(value):
            return False
        if digits == 1 and len(_TURN.findall(value)) < 6:  # ``getToken1Value``
            return False
        return (
            mixed or (digits > 1 and signs) or (len(value) > 15 and digits > 2 and value.isalnum())
        )


DETECTOR = Told()
