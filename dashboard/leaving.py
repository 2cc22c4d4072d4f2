"""The addresses of what comes in and goes out: imports, exports, shares, opinions."""

from __future__ import annotations

from django.urls import URLPattern, path

from dashboard.views import exports, imports, opinions, shares


def paths() -> list[URLPattern]:
    """Made when it is called: the kinds of names in them are registered in `urls`."""
    return [
        path("import/", imports.page, name="import"),
        path("import/pieces/", imports.piece, name="import-piece"),
        path("runs/<permalink:permalink>/reproduce/", imports.reproduce, name="run-reproduce"),
        path("runs/<permalink:permalink>/opinions/", opinions.say, name="run-opinions"),
        path("runs/<permalink:permalink>/share/", shares.share, name="run-share"),
        path(
            "runs/<permalink:permalink>/export/<file:name>", exports.export_run, name="run-export"
        ),
        path("shares/", shares.mine, name="shares"),
        path("shares/<int:number>/revoke/", shares.revoke, name="share-revoke"),
        path("s/<file:key>/", shares.served, name="shared"),
        path("s/<file:key>/archive.zip", shares.served_archive, name="shared-archive"),
        path("s/<file:key>/<path:rest>", shares.served_below, name="shared-below"),
    ]
