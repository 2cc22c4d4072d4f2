"""A page's modules in one file do what they do apart."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from dashboard import joining
from runs.models import Run

MODULES = Path(joining.__file__).parent / "static" / "dashboard"


def _write(folder: Path, **modules: str) -> None:
    for name, text in modules.items():
        (folder / f"{name.replace('_', '-')}.js").write_text(text)


def test_modules_come_after_what_they_import_and_keep_their_names_apart(tmp_path: Path) -> None:
    _write(
        tmp_path,
        base="export function say() {}\n",
        a='import { twice as double } from "./a-b.js";\nconst own = 1;\n'
        "console.log(double(own));\n",
        a_b="const own = 2;\nexport const LIMIT = 3;\n"
        "export function twice(n) {\n  return n * own;\n}\n",
    )
    text = joining.join(tmp_path, ["a"])
    assert text.index("$a_b =") < text.index("$a =")
    assert "const { twice: double } = $a_b;" in text and "return { LIMIT, twice };" in text
    node = shutil.which("node")
    if node:
        run = [node, "--input-type=module", "-e", text.partition("\n")[2]]
        assert subprocess.run(run, capture_output=True, text=True).stdout == "2\n"


@pytest.mark.parametrize(
    "text",
    ["export default 1;\n", 'import x from "./y.js";\n', "export { a };\n", "export let n = 1;\n"],
)
def test_a_form_that_it_does_not_know_is_refused(tmp_path: Path, text: str) -> None:
    _write(tmp_path, a=text)
    with pytest.raises(joining.CannotJoin):
        joining.join(tmp_path, ["a"])


def test_a_circle_of_imports_is_refused(tmp_path: Path) -> None:
    _write(
        tmp_path,
        a='import { b } from "./b.js";\nexport const a = 1;\n',
        b='import { a } from "./a.js";\nexport const b = 1;\n',
    )
    with pytest.raises(joining.CannotJoin, match="circle"):
        joining.join(tmp_path, ["a"])


@pytest.mark.parametrize("entries", joining.PAGES)
def test_our_own_modules_can_be_joined(entries: tuple[str, ...]) -> None:
    assert joining.join(MODULES, entries).count("(() => {") > len(entries)


@pytest.mark.django_db
def test_a_page_loads_the_joined_file_once_it_is_collected(
    client: Client, cut: Run, tmp_path: Path, settings: Any
) -> None:
    address = f"/runs/{cut.permalink}/"
    apart = client.get(address).content.decode()
    assert "dashboard/live.js" in apart and "dashboard/run.js" in apart
    settings.STATIC_ROOT = tmp_path
    call_command("collectstatic", interactive=False, verbosity=0)
    assert (tmp_path / "dashboard" / "page-run-live.js.gz").is_file()
    joined = client.get(address).content.decode()
    assert "dashboard/page-run-live.js" in joined and "dashboard/live.js" not in joined
