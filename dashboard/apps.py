"""The Django application of the pages."""

from __future__ import annotations

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"

    def ready(self) -> None:
        """Register the check that keeps an exposed instance without a token from starting."""
        from dashboard import checks  # noqa: F401  # importing registers them
