"""The API object and how its trouble reads: ``{"error": {"what", "do"}}``, always."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from dashboard import trouble
from dashboard.api.given import Unconfirmed
from runs.errors import CannotRunHere, HarnessError, UnknownName
from runs.scenario import ScenarioError

api = NinjaAPI(
    title="Lifeline",
    version="1",
    description="Runs of agent CLIs against a loopback provider that breaks what you name. "
    "Where a token is set, send `Authorization: Bearer TOKEN`. Bodies are application/json.",
    docs_url=None,  # the usual viewer comes from a CDN; the description itself is enough
)


@api.exception_handler(UnknownName)
def unknown_name(request: HttpRequest, error: UnknownName) -> HttpResponse:
    """A name that does not exist."""
    return trouble.as_json(404, error.what, error.do)


@api.exception_handler(CannotRunHere)
def cannot_run(request: HttpRequest, error: CannotRunHere) -> HttpResponse:
    """This host cannot run it."""
    return trouble.as_json(503, error.what, error.do)


@api.exception_handler(HarnessError)
def harness(request: HttpRequest, error: HarnessError) -> HttpResponse:
    """Something that cannot be done as asked."""
    return trouble.as_json(409, error.what, error.do)


@api.exception_handler(ScenarioError)
def scenario(request: HttpRequest, error: ScenarioError) -> HttpResponse:
    """A scenario or setting that is not valid."""
    return trouble.as_json(422, str(error), "Mend it; /scenarios/ shows those that ship.")


@api.exception_handler(Unconfirmed)
def unconfirmed(request: HttpRequest, error: Unconfirmed) -> HttpResponse:
    """A scenario's text that nobody has confirmed: it is shown."""
    return JsonResponse(error.shown, status=428)


@api.exception_handler(ValidationError)
def validation(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """A body or parameter of the wrong shape: each problem by its place."""
    return trouble.of_shape({**one, "loc": one.get("loc", ())[1:]} for one in error.errors)


@api.exception_handler(Http404)
def missing(request: HttpRequest, error: Http404) -> HttpResponse:
    """No such run."""
    return trouble.as_json(404, "There is no such run.", "GET /api/runs lists them.")


@api.exception_handler(HttpError)
def http(request: HttpRequest, error: HttpError) -> HttpResponse:
    """What ninja itself refuses (a body that is no JSON)."""
    return trouble.as_json(
        error.status_code, str(error), "Send JSON, as /api/openapi.json describes it."
    )
