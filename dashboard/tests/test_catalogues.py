"""The catalogues hold every member of the registries, and health says who listens."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from dashboard.templatetags.lifeline import as_set
from runs import catalogue
from runs.models import Worker


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["agents", "scenarios", "faults", "laws"])
def test_a_catalogue_holds_every_member_of_its_registry(client: Client, name: str) -> None:
    registry = {"agents": catalogue.drivers, "laws": catalogue.laws}.get(
        name, getattr(catalogue, name, None)
    )
    text = client.get(f"/{name}/").content.decode()
    assert registry and registry()
    for member in registry():
        assert f'id="{member}"' in text, member


@pytest.mark.django_db
def test_a_fault_names_the_scenarios_that_use_it(client: Client) -> None:
    entries = client.get("/faults/").context["entries"]
    by_name = {entry["fault"].name: entry for entry in entries}
    assert "sse-cut" in by_name["sse-cut"]["scenarios"]


@pytest.mark.parametrize(
    ("value", "shown"), [(False, "false"), (0.0, "0"), (1.5, "1.5"), ("", '""'), ("auto", "auto")]
)
def test_a_setting_is_shown_as_a_scenario_writes_it(value: object, shown: str) -> None:
    assert as_set(value) == shown


@pytest.mark.django_db
def test_a_scenarios_toml_can_be_read_back(client: Client) -> None:
    from runs.scenario import Scenario

    for scenario in client.get("/scenarios/").context["entries"]:
        assert Scenario.read(scenario.toml()).as_dict() == scenario.as_dict()


@pytest.mark.django_db
def test_health_says_how_many_workers_listen(client: Client) -> None:
    assert client.get("/healthz").json() == {"ok": True, "workers": 0}
    Worker.objects.create(name="one")
    assert client.get("/healthz").json() == {"ok": True, "workers": 1}


@pytest.mark.django_db
def test_an_unknown_address_is_a_page_for_people_and_json_for_programs(client: Client) -> None:
    page: Any = client.get("/nothing/")
    assert page.status_code == 404 and "All runs" in page.content.decode()
    assert client.get("/api/nothing").json()["error"]["what"]
