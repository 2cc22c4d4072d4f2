"""The ways in which secrets stand in texts."""

from __future__ import annotations

import base64
import json
import signal
from urllib.parse import quote

import pytest

from runs import redact
from runs.redact import Choice, Redactor

KEY = "glpat-aB3dE5fG7hI9jK1lM3nO"
PASS = "q7Wd2-zKp9Rt"


def _texts_kept(text: str) -> str:
    """The text without its secrets, each found in this text alone."""
    made = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    made.learn(text)
    made.learned()
    return made.text(text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (f"echo {base64.b64encode(f'x-api-key: {KEY}'.encode()).decode()} | base64 -d", ["eC1hc"]),
        (json.dumps({"a": json.dumps({"b": json.dumps({"password": PASS})})}), [PASS]),
        (f"postgres://svc:{quote(PASS + '#/@', safe='')}@db/main", [PASS]),
        ("file%3A%2F%2F%2FUsers%2Fquentin%2Fx", ["quentin"]),
        ("quentin\\u0040corp.example wrote", ["quentin", "corp"]),
        (f"curl -sS --user admin:{PASS} https://x", [PASS]),
        (f"svc:{PASS}@tcp(db:3306)/main", [PASS]),
        (f"machine x login y password {PASS}", [PASS]),
        (f"sshpass -p {PASS} ssh quentin@build7", [PASS, "quentin", "build7"]),
        ('"passphrase": "correct horse battery"', ["correct", "horse", "battery"]),
        ('cut off: {"passphrase": "correct horse batt', ["correct", "horse", "batt"]),
        ("Ocp-Apim-Subscription-Key: 24a98724712664a577266152db11dbcf", ["24a987"]),
        ("eyJhbGciOiJkaXIiLCJlbmMiOiJB..Z1FtTElESW5wZXhr.T1V1RmdmeW5X.RVg4SUdtRUpV", ["Z1Ft"]),
        ("C:\\Users\\Quentin Marlowe\\a.txt", ["Quentin", "Marlowe"]),
        (json.dumps(json.dumps("D:\\Users\\quentin\\repo")), ["quentin"]),
        ("\\\\wsl$\\Ubuntu\\home\\quentin\\x", ["quentin"]),
        ("/c/Users/quentin/x and /nfs/home/marlowe/y", ["quentin", "marlowe"]),
        ("see ~quentin/notes", ["quentin"]),
        ("bound to fe80::4412:a908:7:49cf%eth0", ["4412", "49cf"]),
        ("peer ::ffff:10.3.2.1 gone", ["10.3.2.1"]),
        ("Linux build7 6.1.0-18-amd64 x86_64", ["build7"]),
        ("COMPUTERNAME=BUILD-7", ["BUILD-7"]),
        ("see \\\\filer7\\projects\\x.docx", ["filer7"]),
        ("LAST LOGIN on DESKTOP-K4JTQ2B", ["K4JTQ2B"]),
        ("-rw-r--r-- 1 quentin staff 12 Nov 30 10:00 a.txt", ["quentin"]),
        (json.dumps({"auths": {"x": {"auth": base64.b64encode(f"bob:{PASS}".encode()).decode()}}}),
         [base64.b64encode(f"bob:{PASS}".encode()).decode()]),
        (json.dumps({"name": "Authorization", "value": PASS}), [PASS]),
        (json.dumps(json.dumps({"key": "db.password", "value": {"stringValue": PASS}})), [PASS]),
        (json.dumps(["serve", "--api-key", PASS]), [PASS]),
        (f"<entry><password>{PASS}</password></entry>", [PASS]),
        (f"GET /v1beta/models/x:generate?alt=sse&key={PASS}", [PASS]),
        (f"tid=a1b2c3d4e5f6a7b8;exp=1;sku=x;8kp=1:{'9f8e7d6c' * 4}", ["9f8e7d6c"]),
        ("dckr_pat_Zk3vQ9xT1mB7cR5nW2pL8sD4fGh", ["Zk3vQ9"]),
        ("glc_eyJvIjoiMSIsImsiOiJxN1dkMnpLcDlSdCJ9", ["eyJvIjoi"]),
        (f"sbp_{'3f9a' * 10} and acme_{'3f9a' * 10}", ["3f9a"]),
        ("acmecorp-Zk3vQ9xT1mB7cR5nW2pL8sD4fGhJ6kYtR", ["Zk3vQ9"]),
        ("PMAK-8f8b21b5bbf43b7f99207eaf-92f14818f900ffcba7e7d59b", ["92f148"]),
        ("pat-eu1-aee9db71-229b-5c5f-a034-cdc7fb52f1d1", ["aee9db71", "cdc7fb"]),
        ("cut off: AGE-SECRET-KEY-1QP2V63GEDZ", ["QP2V63"]),
        (f"cut off: <password>{PASS}</pass", [PASS]),
        ("cut off: SG.QqF8gQ3LQyk0CajahqWCPH.46ZkpG5n", ["QqF8gQ", "46Zkp"]),
        ("cut off: xoxb-12034567…", ["12034567"]),
        ("T04QXB9K2LM/B07AZ3D9KQW/q7WdzKpRtBnJt", ["q7Wdz", "B07AZ"]),
        ("services/T04QXB9K2LM/B07AZ3D9KQW/q7Wd2z", ["q7Wd2z", "B07AZ"]),
        ("pluto-989.venus.corp-session-state.jsonl", ["pluto-989", "venus"]),
        ("hook/marlowe@pluto-989:~/src$ ls", ["marlowe", "pluto-989"]),
    ],
)  # fmt: skip
def test_a_secret_is_found_however_it_is_written(text: str, parts: list[str]) -> None:
    left = _texts_kept(text)
    assert [part for part in parts if part in left] == [], left


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        (f"https://quentin:{PASS}@pypi.corp.example/simple", f"quentin typed {PASS}"),
        ("file%3A%2F%2F%2FUsers%2Fquentin%2Fx", "quentin"),
        ("mail <marlowe@corp.example>", "corp.example"),
    ],
)
def test_a_part_of_a_secret_goes_where_it_stands_alone(text: str, alone: str) -> None:
    made = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    made.learn(text)
    made.learned()
    left = made.text(alone)
    assert not [part for part in ("quentin", PASS, "corp.example") if part in left], left


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        (f"typed {KEY} here", f"log: typed {KEY[:15]}"),
        ("mail marlowe.q@corp.example", "from marlowe.q@co…"),
        ("10.200.113.45 gone", "peer 10.200.1"),
    ],
)
def test_what_a_limit_left_of_a_secret_goes_with_it(text: str, cut: str) -> None:
    made = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    made.learn(text)
    made.learned()
    assert made.text(cut).endswith(("⟩", "⟩…")), made.text(cut)


def test_an_id_that_another_begins_with_stays_itself() -> None:
    made = Redactor(Choice.of("custom", False, tuple(redact.detectors())), b"salt")
    made.learn("1796032495199_ks5er-Zk3vQ9xT1mB7cR5nW2pL8sD4")
    made.learned()
    assert made.text("1796032495199_ks5er") == "1796032495199_ks5er"


@pytest.mark.parametrize(
    "text",
    [
        "/home/.cache/x and /home/setup.py",
        "imported from runner.app",
        "session-ses_dd435a5dbffe9JGcpxZGKYejun.jsonl:7",
        "session-rollout-2026-11-30T09-34-36-01a22bce-650a-7301-96c7-0123456789ab.jsonl:22",
        "session.info from server.app",
        "std::fd::add at 00:11:22",
        "app/home/index.ts and src/users/list.ts",
        "%41%20plain",
        "Sub-agent token HTTP/1.1",
        "subagent-completed-01a227a205d97b00bdf1123602c8ca8c",
        "runner_token_9e84a78e1c05b293a6f485f0b07f35c8",
        "sha256:3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a3f9a",
        "1796032495199_ks5er__teamtask__lifeline-1__lq2N51",
        "the name npm_lifecycle",
        "TRANSCRIPTS/BENCHMARKS/readme",
        "?code=4&key=1",
    ],
)
def test_ids_modules_and_times_stay(text: str) -> None:
    assert _texts_kept(text) == text


@pytest.mark.parametrize(
    "hostile",
    ["a" * 100_000, "a:" * 50_000, "a.b." * 25_000, "QUJD" * 25_000, "%41" + "b" * 100_000,
     "\\" * 100_000 + "u0041", "C:\\Users\\" * 10_000, "-----END PRIVATE KEY-----" * 4_000],
    ids=lambda text: text[:9],
)  # fmt: skip
def test_no_detector_takes_the_square_of_a_text(hostile: str) -> None:
    """A second of the processor's is enough; the square of these lengths takes a minute."""

    def late(*_: object) -> None:
        raise AssertionError("15 s of the processor's were not enough")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 15)
    try:
        _texts_kept(hostile)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
