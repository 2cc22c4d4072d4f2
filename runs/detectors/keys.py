"""Keys and tokens by the shape that their makers gave them."""

from __future__ import annotations

import re

from runs.detectors._base import Patterns

_EDGE = r"(?<![A-Za-z0-9])"
"""No letter before it: the ``sk-`` of ``task-notification`` begins no key. A dash is no letter:
a file may be called ``dump-ghp_….log``."""
_SHAPES = (
    r"sk-(?:ant-|proj-|or-v1-|svcacct-|live-|test-)?(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{16,}",
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"gh[pousr]_[A-Za-z0-9]{20,}",
    r"github_pat_[A-Za-z0-9_]{20,}",
    r"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{16,}",
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9_-]{16,}",
    r"GOCSPX-[A-Za-z0-9_-]{16,}",
    r"xox[abceoprs]-[A-Za-z0-9-]{10,}",
    r"xapp-\d-[A-Za-z0-9-]{10,}",
    r"https://hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]+",
    r"https://(?:\w+\.)?discord(?:app)?\.com/api/webhooks/\d+/[A-Za-z0-9_-]+",
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
    r"secret_[A-Za-z0-9]{30,}",
    r"dop_v1_[a-f0-9]{32,}",
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{24,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"key-[0-9a-f]{32}",
    r"SK[0-9a-f]{32}",
    r"AC[0-9a-f]{32}",
    r"[0-9a-f]{32}-us\d{1,2}",
    r"\d{8,10}:AA[A-Za-z0-9_-]{30,}",
    r"sq0(?:atp|csp)-[A-Za-z0-9_-]{20,}",
    r"hv[sb]\.[A-Za-z0-9_-]{20,}",
    r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9]{20,}",
    r"AGE-SECRET-KEY-1[A-Z0-9]{40,}",
    r"glsa_[A-Za-z0-9]{20,}_[A-Fa-f0-9]{8}",
    r"dapi[0-9a-f]{32}",
    r"eyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{4,})?(?:\.[A-Za-z0-9_-]+){0,3}",
    r"[MNO][A-Za-z0-9]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}",
)


class Keys(Patterns):
    """API keys and access tokens that can be told by their beginning."""

    name = "key"
    title = "API keys and access tokens"
    patterns = (re.compile(_EDGE + "(?:" + "|".join(_SHAPES) + ")"),)


DETECTOR = Keys()
