"""Foreign pages, foreign hosts and strangers get nothing."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard import access, checks, guard
from dashboard.views.gate import _way_back
from runs.models import Run

SERVER = ("127.0.0.1", 8000)
OWN = {"host": "127.0.0.1:8000"}
TOKEN = "correct-horse-battery-staple"
READ_TOKEN = "only-looking-at-the-horse"


def test_it_knows_itself_by_its_loopback_names_with_their_port_and_by_no_other() -> None:
    for host in ("127.0.0.1:8000", "localhost:8000", "[::1]:8000", "LOCALHOST:8000"):
        assert not guard.refusal("GET", {"host": host}, SERVER), host
    for host in (
        "",
        "127.0.0.1",
        "127.0.0.1:8001",
        "evil.example:8000",
        "localhost.evil.example:8000",
        "127.0.0.1:8000@evil.example",
        "0.0.0.0:8000",
        "127.1:8000",
    ):
        assert guard.refusal("GET", {"host": host}, SERVER), host


def test_it_knows_the_address_a_request_arrived_at_only_as_a_number() -> None:
    assert not guard.refusal("GET", {"host": "192.0.2.7:80"}, ("192.0.2.7", 80))
    assert not guard.refusal("GET", {"host": "192.0.2.7"}, ("192.0.2.7", 80))
    assert guard.refusal("GET", {"host": "evil.example:80"}, ("evil.example", 80))


def test_it_takes_the_published_names_of_a_proxy(settings: Any) -> None:
    settings.NAMES = ["lifeline.example"]
    secure = {"host": "lifeline.example", "origin": "https://lifeline.example"}
    assert not guard.refusal("POST", secure, SERVER)
    assert guard.refusal("POST", {**OWN, "origin": "https://127.0.0.1:8000"}, SERVER)


@pytest.mark.parametrize(
    "origin",
    [
        "http://127.0.0.1:8001",
        "http://localhost:8000",
        "https://127.0.0.1:8000",
        "http://evil.example",
        "null",
        "http://127.0.0.1:8000.evil.example",
    ],
)
def test_it_refuses_every_origin_but_its_own(origin: str) -> None:
    for method in ("GET", "POST"):
        assert guard.refusal(method, {**OWN, "origin": origin}, SERVER)
    assert not guard.refusal("POST", {**OWN, "origin": "http://127.0.0.1:8000"}, SERVER)


def test_it_lets_a_link_on_another_site_open_a_page_and_nothing_else() -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    opened = {**OWN, **link, "sec-fetch-dest": "document"}
    assert not guard.refusal("GET", opened, SERVER)
    assert guard.refusal("POST", opened, SERVER)
    assert guard.refusal("GET", {**opened, "sec-fetch-dest": "iframe"}, SERVER)
    assert guard.refusal("GET", {**opened, "sec-fetch-mode": "no-cors"}, SERVER)
    another_port = {**OWN, "sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}
    assert guard.refusal("GET", another_port, SERVER)


def test_it_takes_only_json_for_the_api_and_only_forms_for_the_pages() -> None:
    assert not guard.body_refusal("POST", "/api/runs", "application/json; charset=utf-8", 9)
    assert not guard.body_refusal("POST", "/api/runs/x/cancel", "", 0)
    assert not guard.body_refusal("POST", "/", "application/x-www-form-urlencoded", 9)
    for kind in ("text/plain", "application/x-www-form-urlencoded", "", "text/json"):
        assert guard.body_refusal("POST", "/api/runs", kind, 9), kind
    for kind in ("text/plain", "", "application/octet-stream"):
        assert guard.body_refusal("POST", "/", kind, 9), kind
    assert guard.body_refusal("POST", "/api/runs", "", None)


def _scope(host: bytes = b"127.0.0.1:8000", **headers: bytes) -> dict[str, Any]:
    pairs = [(b"host", host), *((name.encode(), value) for name, value in headers.items())]
    return {"type": "websocket", "server": ["127.0.0.1", 8000], "headers": pairs}


def test_a_websocket_needs_our_own_origin_and_host() -> None:
    assert not guard.websocket_refusal(_scope(origin=b"http://127.0.0.1:8000"))
    assert guard.websocket_refusal(_scope())
    assert guard.websocket_refusal(_scope(origin=b"http://127.0.0.1:8001"))
    assert guard.websocket_refusal(_scope(b"evil.example", origin=b"http://evil.example"))


def test_a_websocket_needs_the_right_to_read(settings: Any) -> None:
    settings.TOKEN = TOKEN
    own = b"http://127.0.0.1:8000"
    assert guard.websocket_refusal(_scope(origin=own))
    cookie = f"{access.COOKIE}={access.cookie_value(TOKEN)}".encode()
    assert not guard.websocket_refusal(_scope(origin=own, cookie=cookie))


@pytest.mark.django_db
def test_a_foreign_host_or_origin_gets_403_from_every_address(client: Client, cut: Run) -> None:
    for path in (
        "/",
        f"/runs/{cut.permalink}/",
        "/api/runs",
        "/healthz",
        "/static/dashboard/base.css",
    ):
        assert client.get(path, headers={"host": "evil.example"}).status_code == 403
        assert client.get(path, headers={"host": "testserver:81"}).status_code == 403
        foreign = client.get(path, headers={"origin": "http://testserver:8001"})
        assert foreign.status_code == 403
        assert "copilot" not in foreign.content.decode()


@pytest.mark.django_db
def test_a_form_without_its_csrf_token_starts_nothing() -> None:
    strict = Client(enforce_csrf_checks=True)
    start = {"agent": "reference", "scenario": "sse-cut", "repeat": 1}
    assert strict.post("/", start).status_code == 403
    assert strict.post("/api/runs", start).status_code == 403  # a form, not JSON
    text = strict.post("/api/runs", '{"agent":"reference"}', content_type="text/plain")
    assert text.status_code == 403 and "openapi.json" in text.json()["error"]["do"]
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_a_form_with_its_csrf_token_works_without_a_session(cut: Run) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.get("/")
    token = strict.cookies["lifeline_csrf"]
    assert token["httponly"] and token["samesite"] == "Strict"
    page = strict.get(f"/runs/{cut.permalink}/")
    hidden = page.context["csrf_token"]
    kept = strict.post(f"/runs/{cut.permalink}/keep/", {"keep": "1", "csrfmiddlewaretoken": hidden})
    assert kept.status_code == 302
    cut.refresh_from_db()
    assert cut.keep


@pytest.mark.django_db
def test_pages_allow_no_inline_code_and_no_frame(client: Client, cut: Run) -> None:
    answer = client.get(f"/runs/{cut.permalink}/")
    policy = answer["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == "same-origin"
    text = answer.content.decode()
    assert " style=" not in text and " onclick=" not in text
    assert "<script>" not in text


@pytest.mark.parametrize(
    ("host", "token", "allowed"),
    [
        ("127.0.0.1", "", True),
        ("::1", "", True),
        ("localhost", "", True),
        ("0.0.0.0", "", False),
        ("192.0.2.7", "", False),
        ("::", "", False),
        ("0.0.0.0", TOKEN, True),
        ("0.0.0.0", "short", False),
    ],
)
def test_anything_but_loopback_needs_a_token_to_start(host: str, token: str, allowed: bool) -> None:
    assert (checks.exposure_problem(host, token) == "") is allowed


def test_the_system_check_says_what_to_set(settings: Any) -> None:
    settings.HOST, settings.TOKEN = "0.0.0.0", ""
    (error,) = checks.exposed_without_token(None)
    assert error.id == "lifeline.E001" and "LIFELINE_TOKEN" in str(error.msg)


@pytest.mark.django_db
def test_an_exposed_instance_without_a_token_answers_nobody(client: Client) -> None:
    answer = client.get("/", SERVER_NAME="192.0.2.7", headers={"host": "192.0.2.7"})
    assert answer.status_code == 403
    assert "LIFELINE_TOKEN" in answer.content.decode()


@pytest.mark.django_db
def test_a_stranger_is_sent_to_the_login_and_a_program_gets_401(
    client: Client, settings: Any
) -> None:
    settings.TOKEN = TOKEN
    page = client.get("/?q=law:L3")
    assert page.status_code == 302
    assert page["Location"] == "/login/?next=/%3Fq%3Dlaw%3AL3"
    assert client.get("/api/runs").status_code == 401
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_the_token_opens_everything_and_leaves_a_cookie_that_does_not_hold_it(
    client: Client, settings: Any
) -> None:
    settings.TOKEN = TOKEN
    assert client.post("/login/", {"token": "wrong"}).status_code == 403
    answer = client.post("/login/", {"token": TOKEN, "next": "/?q=x"})
    assert answer["Location"] == "/?q=x"
    cookie = answer.cookies[access.COOKIE]
    assert cookie["httponly"] and cookie["samesite"] == "Strict"
    assert TOKEN not in cookie.value
    assert client.get("/").status_code == 200
    settings.TOKEN = "another-token-that-is-long"
    assert client.get("/").status_code == 302


@pytest.mark.django_db
def test_reading_and_starting_are_separate_rights(client: Client, settings: Any, cut: Run) -> None:
    settings.TOKEN, settings.READ_TOKEN = TOKEN, READ_TOKEN
    client.post("/login/", {"token": READ_TOKEN})
    page = client.get(f"/runs/{cut.permalink}/")
    assert page.status_code == 200
    assert "Run again" not in page.content.decode()
    assert client.post(f"/runs/{cut.permalink}/again/").status_code == 403
    bearer = {"authorization": f"Bearer {READ_TOKEN}"}
    program = Client()
    assert program.get("/api/runs", headers=bearer).status_code == 200
    again = f"/api/runs/{cut.permalink}/again"
    body = {"data": "{}", "content_type": "application/json"}
    assert program.post(again, headers=bearer, **body).status_code == 403
    starter = {"authorization": f"Bearer {TOKEN}"}
    assert program.post(again, headers=starter, **body).status_code == 201


@pytest.mark.parametrize(
    "given",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:1", "", "x"],
)
def test_the_login_never_leads_to_another_place(given: str, rf: Any) -> None:
    assert _way_back(rf.get("/"), given) == "/"
