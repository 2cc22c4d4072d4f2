"""Keys and tokens by the shape that their makers gave them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runs.detectors._base import Found, Patterns

_EDGE = r"(?<![A-Za-z0-9])"
"""No letter before it: the ``sk-`` of ``task-notification`` begins no key. A dash is no letter:
a file may be called ``dump-ghp_….log``."""
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
_NAMED = (
    r"(?:ctx7)?sk-(?:ant-|proj-|or-v1-|svcacct-|live-|test-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"GOCSPX-[A-Za-z0-9_-]{16,}",
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-\d-[A-Za-z0-9-]{10,}",
    r"npm_[A-Za-z0-9]{20,}",
    r"pypi-[A-Za-z0-9_-]{16,}",
    r"hf_[A-Za-z0-9]{20,}",
    r"gsk_[A-Za-z0-9]{20,}",
    r"xai-[A-Za-z0-9]{20,}",
    r"pplx-[A-Za-z0-9]{20,}",
    r"r8_[A-Za-z0-9]{20,}",
    r"nvapi-[A-Za-z0-9_-]{20,}",
    r"tvly-[A-Za-z0-9-]{16,}",
    r"lin_api_[A-Za-z0-9]{20,}",
    r"ntn_[A-Za-z0-9]{20,}",
    r"dop_v1_[a-f0-9]{32,}",
    r"sq[apu]_[0-9a-f]{40}",
    r"(?:key|crsr)_[0-9a-f]{64}",
    r"shp(?:at|ca|pa|ss|ua)_[a-fA-F0-9]{24,}",
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"gl(?:sa|c)_[A-Za-z0-9_+/=-]{20,}",
    r"(?:figd|tfp|fo1|jina|tgp_v1|sbp|dckr_(?:pat|oat)|vc[pkai])_(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}",
    r"sntry[su]_[A-Za-z0-9_+/=-]{20,}",
    r"(?:bkua|rubygems|pul|npms)[_-][0-9a-f]{32,}",
    r"(?:PMAK|NRAK|NRRA|CFPAT|CCIPAT|tskey|ops)[-_](?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{20,}",
    r"pat-[a-z]{2}\d-[0-9a-f]{8}-[0-9a-f-]{20,}",
    r"A[TC]{1,3}TT3xFf[A-Za-z0-9_=-]{20,}",
    r"dapi[0-9a-f]{32}",
    r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}",
    r"GR1348941[A-Za-z0-9_-]{20,}",
    r"gl(?:ffct|imt|agent)-[A-Za-z0-9_-]{16,}",
    r"mlsn\.[0-9a-f]{32,}",
    r"hcaik_[a-z0-9]{32,}",
    r"napi_[a-z0-9]{32,}",
    r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}",
    r"FLWSECK(?:_TEST)?-[0-9a-f]{12,}(?:-X)?",
    r"rzp_(?:live|test)_[A-Za-z0-9]{14,}",
    r"access_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32,}",
    r"T[A-Z0-9]{8,12}/(?:[AB][A-Z0-9]{8,12}|\d{10,})(?:/\d{10,})?/(?=[a-z]*[A-Z0-9])[A-Za-z0-9]{8,}",
)
"""Those whose beginning is nobody else's: they are told also where a limit cut them off."""
_SHAPES = (
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}",
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]+",
    r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]+",
    r"secret_[A-Za-z0-9]{30,}",
    r"secret_\w{16,60}\.[A-Za-z0-9]{30,}",
    rf"(?:pk-lf-|xaat-|sdk-|api-|amzn\.mws\.|access-(?:sandbox|development|production)-){_UUID}",
    rf"luma-{_UUID}-{_UUID}",
    rf"{_UUID}:[0-9a-f]{{32}}",
    rf"0\.{_UUID}\.[A-Za-z0-9]{{30}}:[A-Za-z0-9+/]{{20,}}={{0,2}}",
    r"ls__[0-9a-f]{32}",
    r"csk-[a-z0-9]{40,}",
    r"fc-[0-9a-f]{32}",
    r"BSA[A-Za-z0-9_-]{24,}",
    r"a[ks]-(?=[A-Za-z]*\d)[A-Za-z0-9]{22}(?![\w-])",
    r"s\.(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{24}(?!\w)",
    r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}",
    r"pat\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}",
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}",
    r"dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}",
    r"[A-Za-z0-9]{3}\dQ~[A-Za-z0-9~._-]{31,34}",
    r"[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}(?![\w-])",
    r"[0-9a-f]{36}NRAL",
    r"NRJS-[0-9a-f]{19}",
    r"\d/\d{16}/(?:\d{16}:)?[0-9a-f]{32}",
    r"perm:[A-Za-z0-9+/=]{4,}\.[A-Za-z0-9+/=]{4,}\.[A-Za-z0-9]{20,}",
    r"oy2[a-z2-7]{43}",
    r"nsec1[ac-hj-np-z02-9]{58}",
    r"\$(?:2[abxy]|5|6|y|apr1|argon2id?|scrypt)\$[A-Za-z0-9./$=,+]{20,}",
    r"[0-9a-f]{32}:[0-9a-f]{32}(?=:::)",
    r"key-[0-9a-f]{32}",
    r"SK[0-9a-f]{32}",
    r"AC[0-9a-f]{32}",
    r"[0-9a-f]{32}-us\d{1,2}",
    r"\d{8,10}:AA[A-Za-z0-9_-]{30,}",
    r"hv[sb]\.[A-Za-z0-9_-]{20,}",
    r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{20,}",
    r"(?:sess|rt)[-_](?=[a-z0-9_-]*[A-Z])[A-Za-z0-9_-]{32,}",
    r"fw_(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{20,}",
    r"(?:LTAI|AKID)[A-Za-z0-9]{16,}",
    r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}",
    r"tid=[0-9a-f]{16,};[^\s\"']{20,}",
    r"eyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{4,})?(?:\.[A-Za-z0-9_-]+){0,3}",
    r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
)

_CUT = re.compile(
    _EDGE
    + "(?:"
    + "|".join(re.sub(r"\{\d+(?:,\d*)?\}(?=$|_)", "{6,}", shape) for shape in _NAMED)
    + r")(?=[.…]*$)"
)
"""The same, already told by six letters after the beginning, at the end of a text."""
_LAST = 400
"""Letters at the end of a text in which it is looked for."""


class Keys(Patterns):
    """API keys and access tokens that can be told by their beginning."""

    name = "key"
    title = "API keys and access tokens"
    patterns = (re.compile(_EDGE + "(?:" + "|".join((*_NAMED, *_SHAPES)) + ")"),)

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and what a limit left of one."""
        yield from super().find(text)
        cut = _CUT.search(text, max(0, len(text) - _LAST))
        if cut and self.is_secret(cut.group()):
            yield Found(*cut.span())

    def is_secret(self, value: str) -> bool:
        """``npm_lifecycle`` is a name: what is drawn at random has digits or capitals."""
        return any(letter.isdigit() or letter.isupper() for letter in value)


DETECTOR = Keys()
