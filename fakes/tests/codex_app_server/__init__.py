"""Tests of the fake app-server: real processes over standard input and output."""

from __future__ import annotations
