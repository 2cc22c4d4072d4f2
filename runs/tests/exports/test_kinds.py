"""More kinds of secrets, each as it stands in logs; and words that look like them."""

from __future__ import annotations

import json

import pytest

from runs import redact
from runs.redact import Choice, Redactor

PASS = "q7Wd2zKp9RtX"
HEX = "5f2c9a1b7d3e4f60"
UUID = "5f2c9a1b-7d3e-4f60-8a1b-0c9d8e7f6a5b"


def _left(text: str) -> str:
    redactor = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    redactor.learn(text)
    redactor.learned()
    return redactor.text(text)


KEYS = [
    f"lsv2_pt_{HEX * 2}_{HEX[:10]}", f"csk-{HEX * 3}", f"fc-{HEX * 2}", "ak-tW7hU27rFbvZ0UGq2Qr9gZ",
    "GR13489418JHTlcRA7t4Lf0puixyzw", "glffct-rMFgiWf8DZbbyRBwIybR", f"amzn.mws.{UUID}",
    "B8T8Q~O9EP1aGbK5s4aWci1KsK5s29q3t3k4wvL", f"{HEX * 2}-{HEX[:8]}-{HEX[:8]}", f"mlsn.{HEX * 4}",
    f"access_token$production$abcdefgh12345678${HEX * 2}",
    f"squ_{HEX * 2}{HEX[:8]}", f"crsr_{HEX * 4}", f"shpua_{HEX * 2}", "rzp_live_MRKCjikZ8aiocR",
    f"access-sandbox-{UUID}", f"FLWSECK-{HEX * 2}-X", "s.rur1HnxdA8GMdE6VdeO9MgPD",
    f"st.{HEX}{HEX[:8]}.{HEX * 2}.{HEX * 2}", "oy2" + "enud3kb3mq7v" * 3 + "abcdefg",
    f"xaat-{UUID}",
    "NRJS-ed5fbaa0624c7ca720b", "hcaik_" + "01naf9nxm4oe" * 4, "napi_" + "7412u5rrh01f" * 4,
    "dt0c01." + "JVOCTL4R2Z8N" * 2 + "." + "ZUB55CBP9CHADWKS" * 4, f"patVDUGMsOoWHxhH2.{HEX * 4}",
    "pat.ADrc1hKPEat4HcF1xSf7yR." + HEX + HEX[:8] + ".m4be8pcaH0I6ywvrCHq9", f"{UUID}:{HEX * 2}",
    f"sgp_{HEX}_{HEX * 2}{HEX[:8]}", "nsec1" + "tafccmd2pgj0" * 4 + "mtcm2yfkyh",
    "$2b$12$CggmigrpAEHuF9oqiwOlxBQ1SiPdzaFN3z7JxQgkWsWlluHSPaB",
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_a_makers_key_goes(key: str) -> None:
    for text in (key, f"got {key} from it", f"/tmp/x-{key}.log", f"kind/{key}/x"):
        assert key[-12:] not in _left(text), text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"my password is {PASS}, use it", PASS),
        (f"Password for marlene: {PASS}", PASS),
        (f"**Password:** `{PASS}`", PASS),
        (f"| API_KEY | {PASS} |", PASS),
        (f"- name: API_KEY\n  value: {PASS}", PASS),
        (f"set -x OPENAI_API_KEY {PASS}", PASS),
        (f"os.environ['MY_SECRET'] = '{PASS}'", PASS),
        (f"CREATE USER x WITH PASSWORD '{PASS}'", PASS),
        (f"CREATE USER x IDENTIFIED BY '{PASS}'", PASS),
        (f'name="password"\r\n\r\n{PASS}\r\n--b', PASS),
        (f"PGPASSWORD={PASS} psql", PASS),
        (json.dumps({"userPassword": "hunter-two"}), "hunter-two"),
        (json.dumps({"password": {"value": "hunter-two"}}), "hunter-two"),
        (json.dumps({"passwords": ["hunter-two"]}), "hunter-two"),
        ("ansible_become_pass: hunter-two", "hunter-two"),
        (f"ENCRYPTION_KEY={HEX * 4}", HEX),
        ("docker login -u ci -p hunter-two x", "hunter-two"),
        ("redis-cli -h r -a hunter-two ping", "hunter-two"),
        ("echo hunter-two | sudo -S ls", "hunter-two"),
        ("openssl enc -d -pass pass:hunter-two -in x", "hunter-two"),
        ("keytool -storepass hunter-two -list", "hunter-two"),
        ("db1:5432:shop:app:hunter-two", "hunter-two"),
        (json.dumps({"cookies": [{"name": "zqx", "value": PASS}]}), PASS),
        (json.dumps({"set-cookie": ["a=1; Path=/", f"__cf={PASS}; HttpOnly"]}), PASS),
        (f"curl --cookie user_session={PASS} https://x", PASS),
        (f"ASP.NET_SessionId={PASS}", PASS),
        (f'Authorization: Digest username="m", realm="x", response="{HEX * 2}"', HEX),
        (json.dumps([["x-api-key", PASS]]), PASS),
        (f"X-Hub-Signature-256: sha256={HEX * 4}", HEX),
        (f"https://x.example.org/reset/{HEX}a1B2", HEX),
        ("to marlene@[10.9.8.7]", "marlene"),
        (f"event_msg/acme_{HEX * 2}", HEX),
        ("user.email=marlene@studio7", "marlene"),
        ("uid=1000(marlene) gid=1000(x)", "marlene"),
        ("enqueue \x1b[32mmarlene\x1b[0m pts/0 x", "marlene"),
        ("marlene:x:1000:1000::/srv:/bin/sh", "marlene"),
        ("\\\\box\\c$\\Users\\marlene\\x", "marlene"),
        ("//wsl$/Ubuntu/home/marlene/x", "marlene"),
        ("/Volumes/Macintosh HD/Users/marlene/x", "marlene"),
        ("vscode-remote://ssh-remote%2Bbox/home/marlene/x", "marlene"),
        ("getaddrinfo ENOTFOUND studio7", "studio7"),
        ("dial tcp: lookup studio7 on 127.0.0.53:53: no such host", "studio7"),
        ("connect ECONNREFUSED studio7:8080", "studio7"),
        ("java.net.UnknownHostException: studio7", "studio7"),
        ('could not translate host name "studio7" to address', "studio7"),
        ("Nov 30 10:00:01 studio7 sshd[12]: Accepted", "studio7"),
        (json.dumps({"key": "server.address", "value": {"stringValue": "studio7"}}), "studio7"),
        ("at studio7.fritz.box", "studio7"),
        ("ip-10-72-21-15.compute", "10-72-21-15"),
        ("git@studio7:team/x.git", "studio7"),
    ],
)
def test_what_is_told_goes(text: str, secret: str) -> None:
    assert secret not in _left(text)


@pytest.mark.parametrize(
    "text",
    [
        "the secret getToken1Value was not found", "max_tokens 4096, tokens: 1200",
        "a lookup table and connecting to server", f"prompt_cache_key: {UUID}",
        "task-notification for toolu_01AbCdEfGhIjKlMnOpQrStUv", "has_passed = bool(words)",
        f"sha256:{HEX * 4}", "claude-sonnet-4-5-20250929 and gpt-5.1-codex-mini",
        "reference  10  0.3  1.5 seconds", "2026-11-30T10:00:00Z info logger: ready",
        "session/prompt answered", "fc_0a1b2c3d and call_9f8e7d6c5b4a", f"agent-{UUID}",
        "secret scanning of version2 is on", "/api/media/images/x.png",
        "rollout-2026-11-30T10-00-00",
    ],
)  # fmt: skip
def test_ordinary_words_stay(text: str) -> None:
    assert _left(text) == text
