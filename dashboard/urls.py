"""Addresses, as a table of contents."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path, register_converter

from dashboard.api import api
from dashboard.views import (
    actions,
    agents,
    archive,
    bisects,
    catalogues,
    compare,
    drift,
    event,
    exports,
    gate,
    imports,
    matrix,
    opinions,
    run,
    runs,
    scenarios,
    shares,
    sweeps,
    taking,
    watch,
)


class Permalink:
    """What `runs.models.new_permalink` makes."""

    regex = "[0-9A-Za-z]{8,32}"

    def to_python(self, value: str) -> str:
        """From the address."""
        return value

    def to_url(self, value: str) -> str:
        """Into the address."""
        return value


class FileName(Permalink):
    """A plain file name: no slash, no leading dot."""

    regex = "[0-9A-Za-z][0-9A-Za-z._-]{0,99}"


class Form(Permalink):
    """What a table is copied as."""

    regex = "md|csv|json"


register_converter(Permalink, "permalink")
register_converter(Form, "form")
register_converter(FileName, "file")

urlpatterns: list[URLPattern | URLResolver] = [
    path("", runs.runs, name="runs"),
    path("rows/", runs.list_rows, name="rows"),
    path("runs/<permalink:permalink>/", run.run, name="run"),
    path("runs/<permalink:permalink>/parts/", run.parts, name="run-parts"),
    path("runs/<permalink:permalink>/events/<int:seq>/", event.event, name="event"),
    path("runs/<permalink:permalink>/events/<int:seq>/part/", event.part, name="event-part"),
    path("runs/<permalink:permalink>/events/<int:seq>/raw", event.raw, name="event-raw"),
    path("runs/<permalink:permalink>/bodies/<file:name>", event.body, name="run-body"),
    path("runs/<permalink:permalink>/archive", archive.archive, name="run-archive"),
    path("runs/<permalink:permalink>/again/", actions.again, name="run-again"),
    path("runs/<permalink:permalink>/cancel/", actions.cancel, name="run-cancel"),
    path("runs/<permalink:permalink>/delete/", actions.delete, name="run-delete"),
    path("runs/<permalink:permalink>/keep/", actions.keep, name="run-keep"),
    path("runs/<permalink:permalink>/notes/", actions.notes, name="run-notes"),
    path("runs/<permalink:permalink>/reproduce/", imports.reproduce, name="run-reproduce"),
    path("runs/<permalink:permalink>/opinions/", opinions.say, name="run-opinions"),
    path("runs/<permalink:permalink>/share/", shares.share, name="run-share"),
    path("runs/<permalink:permalink>/export/<file:name>", exports.export_run, name="run-export"),
    path("matrix/", matrix.matrix, name="matrix"),
    path("matrix/cell/", matrix.cell, name="matrix-cell"),
    path("matrix/badge.svg", matrix.badge, name="matrix-badge"),
    path("matrix/matrix.<form:form>", matrix.copy, name="matrix-copy"),
    path("compare/", compare.compare, name="compare"),
    path("compare/timeline/", compare.timeline, name="compare-timeline"),
    path("sweeps/", sweeps.sweeps_page, name="sweeps"),
    path("sweeps/plan/", sweeps.plan, name="sweep-plan"),
    path("sweeps/<permalink:permalink>/", sweeps.sweep, name="sweep"),
    path("sweeps/<permalink:permalink>/parts/", sweeps.parts, name="sweep-parts"),
    path("sweeps/<permalink:permalink>/steer/", sweeps.steer, name="sweep-steer"),
    path("bisects/", bisects.create, name="bisect-new"),
    path("bisects/<permalink:permalink>/", bisects.bisect, name="bisect"),
    path("bisects/<permalink:permalink>/parts/", bisects.parts, name="bisect-parts"),
    path("watch/", watch.watches, name="watches"),
    path("watch/<int:pk>/", watch.steer, name="watch-steer"),
    path("watch/news/<int:pk>/", watch.seen, name="news-seen"),
    path("agents/", agents.agents, name="agents"),
    path("agents/<file:agent>/", agents.agent, name="agent"),
    path("agents/<file:agent>/parts/", agents.parts, name="agent-parts"),
    path("agents/<file:agent>/change/", agents.change, name="agent-change"),
    path("scenarios/", scenarios.scenarios, name="scenarios"),
    path("scenarios/new", scenarios.new, name="scenario-new"),
    path("scenarios/check/", scenarios.checks, name="scenario-check"),
    path("scenarios/import/", taking.taking, name="scenario-import"),
    path("scenarios/<file:name>/", scenarios.scenario, name="scenario"),
    path("scenarios/<file:name>/edit", scenarios.edit, name="scenario-edit"),
    path("scenarios/<file:name>/toml", scenarios.toml, name="scenario-toml"),
    path("scenarios/<file:name>/delete/", scenarios.delete, name="scenario-delete"),
    path("faults/", catalogues.faults, name="faults"),
    path("faults/<file:fault>/example/", catalogues.fault_example, name="fault-example"),
    path("laws/", catalogues.laws, name="laws"),
    path("laws/<file:law>/example/", catalogues.law_example, name="law-example"),
    path("drift/", drift.drift, name="drift"),
    path("import/", imports.page, name="import"),
    path("import/pieces/", imports.piece, name="import-piece"),
    path("shares/", shares.mine, name="shares"),
    path("shares/<int:number>/revoke/", shares.revoke, name="share-revoke"),
    path("s/<file:key>/", shares.served, name="shared"),
    path("s/<file:key>/archive.zip", shares.served_archive, name="shared-archive"),
    path("s/<file:key>/<path:rest>", shares.served_below, name="shared-below"),
    path("preferences/", gate.remember, name="preferences"),
    path("login/", gate.login, name="login"),
    path("healthz", gate.healthz, name="healthz"),
    path("api/", api.urls),
]
handler400 = "dashboard.trouble.bad"
handler403 = "dashboard.trouble.refused"
handler404 = "dashboard.trouble.not_found"
handler500 = "dashboard.trouble.broken"
