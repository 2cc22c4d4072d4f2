"""Settings. Everything a person may change comes from the environment; state is under ``var/``."""

from __future__ import annotations

import json
import os
import platform
import secrets
from pathlib import Path

from dashboard import broker, environment

BASE = Path(__file__).resolve().parent.parent
VAR = environment.folder("LIFELINE_VAR", BASE / "var")


def _secret_key() -> str:
    """The instance's own key, made once in ``var/`` and readable by its owner alone."""
    path = VAR / "secret-key"
    if not path.exists():
        own = path.with_name(f"secret-key.{os.getpid()}")
        own.touch(mode=0o600)
        own.write_text(secrets.token_urlsafe(48))
        try:
            os.link(own, path)  # whole or not at all, and the first one wins
        except FileExistsError:
            pass
        own.unlink()
    return path.read_text()


SECRET_KEY = _secret_key()
DEBUG = False
ALLOWED_HOSTS = ["*"]  # The guard middleware checks the exact Host, port included.
HOST = os.environ.get("LIFELINE_HOST", "127.0.0.1")
"""The address that `up` listens on."""
NAMES = [name for name in os.environ.get("LIFELINE_NAMES", "").lower().split(",") if name]
"""Hosts (with their port, if any) under which a proxy publishes this instance."""
TOKEN = os.environ.get("LIFELINE_TOKEN", "")
READ_TOKEN = os.environ.get("LIFELINE_READ_TOKEN", "")
BINARIES = environment.binaries()
CONCURRENCY = environment.whole("LIFELINE_CONCURRENCY", os.cpu_count() or 1, least=1)
PLATFORM = f"{platform.system().lower()}-{platform.machine()}"
QUEUES = environment.pairs("LIFELINE_QUEUES")
"""``codex:mac,copilot:mac``: runs of these agents wait in another queue, for workers elsewhere."""
ALLOW_UNSEALED = environment.switch("LIFELINE_ALLOW_UNSEALED")
KEEP_DAYS = environment.number("LIFELINE_KEEP_DAYS", 0)
"""Days after which an ended run is removed by itself; 0: never (`runs.retention`)."""
KEEP_GIB = environment.number("LIFELINE_KEEP_GIB", 0)
"""Size of all runs' folders above which the oldest are removed; 0: no matter."""
MEMORY_FLOOR_MIB = environment.whole("LIFELINE_MEMORY_FLOOR_MIB", 1024)

INSTALLED_APPS = [
    "daphne",
    "django.contrib.contenttypes",
    "django.contrib.staticfiles",
    "channels",
    "runs",
    "dashboard",
]
MIDDLEWARE = [
    "dashboard.guard.GuardMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "dashboard.access.AccessMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "connect-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
CSRF_COOKIE_NAME = "lifeline_csrf"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_FAILURE_VIEW = "dashboard.trouble.forbidden"
CSRF_TRUSTED_ORIGINS = [f"https://{name}" for name in NAMES]
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 << 20
DATA_UPLOAD_MAX_NUMBER_FILES = 5000  # a folder of logs; runs/imports.py has the other limits
ROOT_URLCONF = "dashboard.urls"
ASGI_APPLICATION = "dashboard.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "dashboard.preferences.context",
            ]
        },
    }
]

DATABASES = {"default": environment.database(VAR / "lifeline.sqlite3")}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def _redis_url() -> str:
    """``REDIS_URL``, else that of the instance that runs from this folder, else none."""
    if "REDIS_URL" in os.environ:
        return environment.redis(os.environ["REDIS_URL"])
    try:
        instance = json.loads((VAR / "instance.json").read_text())
        os.kill(int(instance["pid"]), 0)
        return str(instance["redis_url"])
    except (OSError, ValueError, KeyError):
        return ""


REDIS_URL = _redis_url()
CHANNEL_LAYERS = (
    {
        "default": {
            "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
            "CONFIG": {"hosts": [REDIS_URL]},
        }
    }
    if REDIS_URL
    else {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
)

STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "dashboard.joining.JoiningStorage"},
}
STATIC_ROOT.mkdir(exist_ok=True)
WHITENOISE_USE_FINDERS = not (STATIC_ROOT / "dashboard").is_dir()  # `up` collects and packs first
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

CELERY_BROKER_URL = broker.url_of(REDIS_URL)
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_RESULT_BACKEND = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = False  # a run must never start twice; see runs/tasks.py
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_CONCURRENCY = CONCURRENCY
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_DEFAULT_QUEUE = "upkeep"
CELERY_TASK_ROUTES = {
    name: {"queue": "runs"} for name in ("runs.execute", "runs.install", "runs.watch_look")
}
CELERY_BEAT_SCHEDULE = {
    "reap": {"task": "runs.reap", "schedule": 5.0},
    "watch": {"task": "runs.watch", "schedule": 60.0},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR / "beat")
