"""The suite never touches the state of the instance that stands in the same folder."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings


def test_the_suite_keeps_its_state_in_a_folder_of_its_own() -> None:
    assert settings.SETTINGS_MODULE == "dashboard.settings_test"
    assert not Path(settings.VAR).is_relative_to(settings.BASE)
