"""What holds for every driver; a new one inherits these."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fakes.dialect import dialects
from fakes.script import Child, task
from runs import catalogue, packages, versions
from runs.core.events import KINDS
from runs.driver import Driver
from runs.errors import HarnessError, UnknownName
from runs.tests.drivers.conftest import MakeContext

GARBAGE = (
    b"\n",
    b"{\n",
    b"[1, 2]\n",
    b"null\n",
    b'{"type": 7, "data": "x", "timestamp": []}\n',
    b"\xff\xfe\x00broken\n",
    b"\x1b[31mred\x1b[0m <script>alert(1)</script>\n",
    b"[" * 100_000 + b"\n",
    b"no newline",
)

pytestmark = pytest.mark.parametrize(
    "driver", catalogue.drivers().values(), ids=lambda one: one.name
)


def test_it_says_what_it_is(driver: Driver) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9-]*", driver.name)
    assert driver.title
    assert versions.valid(driver.oldest)
    assert set(driver.dialects) <= set(dialects())
    packages.check(driver.package)
    assert driver.allowed_tools
    assert driver.overhead_mib > 0


def test_its_options_have_a_valid_default_and_say_what_they_do(driver: Driver) -> None:
    for option in driver.options:
        assert option.help.endswith(".")
        assert option.read(option.default) == option.default


def test_it_names_the_option_that_it_does_not_have(driver: Driver) -> None:
    with pytest.raises(UnknownName, match="no option 'nonsense'"):
        driver.read_options({"nonsense": 1})


def test_it_speaks_a_dialect_of_its_own_list_by_default(driver: Driver) -> None:
    assert driver.dialect(driver.read_options({})) == driver.dialects[0]


def test_it_launches_with_nothing_of_this_machine(
    driver: Driver, make_context: MakeContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_TOKEN", "planted-secret")
    monkeypatch.setenv("HOME", "/home/planted")
    launch = driver.launch(make_context(driver))
    everything = json.dumps([launch.argv, dict(launch.env), list(launch.files.values())])
    assert Path(launch.argv[0]).is_absolute()
    assert "planted" not in everything
    assert not [name for name in launch.env if re.search(r"TOKEN|SECRET|PASSWORD", name)]


def test_it_writes_only_below_the_folders_of_the_run(
    driver: Driver, make_context: MakeContext, tmp_path: Path
) -> None:
    launch = driver.launch(make_context(driver))
    for path in (*launch.files, *launch.views):
        assert path.is_relative_to(tmp_path)
        assert not path.is_relative_to(tmp_path / "installed")


def test_it_delegates_with_the_marker_of_the_task(driver: Driver) -> None:
    table = driver.tools(driver.read_options({}), driver.oldest)
    given = table.delegate(task("1.2"))
    assert "LIFELINE-TASK-1.2" in json.dumps(given.arguments)
    assert given.name in driver.tools_allowed(driver.read_options({}))
    for action in (table.wait, table.poll, table.cancel):
        call = action(Child("1"))
        assert call is None or call.name


def test_it_refuses_what_its_model_has_no_tool_for(driver: Driver) -> None:
    newest = "9999.0.0"
    for name in ("cancel-child", "parent-polls", "follow-up"):
        scenario = catalogue.scenarios()[name]
        options = driver.read_options(scenario.agents.get(driver.name, {}))
        table, child = driver.tools(options, newest), Child("1", "an-id")
        calls = {
            "cancel-child": table.cancel(child),
            "parent-polls": table.poll(child),
            "follow-up": table.message(child, "More."),
        }
        refused = catalogue.not_applicable(driver.name, [scenario])
        refused |= driver.no_meaning(options, newest)
        assert calls[name] is not None or name in refused, name


def test_its_readers_survive_anything(driver: Driver, make_context: MakeContext) -> None:
    for source in driver.sources(make_context(driver)):
        reader = source.reader("file")
        drafts = []
        offset = 0
        for number, line in enumerate(GARBAGE, 1):
            drafts += list(reader.feed(line, number, offset))
            offset += len(line)
        drafts += list(reader.end())
        for draft in drafts:
            assert set(draft.data) <= KINDS[draft.kind].keys
            assert draft.file == "file"


def test_it_says_when_its_executable_is_not_there(driver: Driver, tmp_path: Path) -> None:
    with pytest.raises(HarnessError):
        driver.executable(tmp_path)
