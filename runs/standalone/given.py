#!/usr/bin/env python3
"""Repeats one failure of an agent CLI: a loopback provider that breaks one stream.

    python3 THIS_FILE /path/to/the/agent/binary

Needs Python 3.9 or newer and the agent's binary; no credentials, no hosted model, no
network but 127.0.0.1. The answers below are played byte for byte. Exit: 0 it was given broken
answers (whatever came of them), 1 it asked for none, 2 wrong call.
"""

from __future__ import annotations

from typing import Any

TITLE = ""
QUESTION = ""
DEADLINE = 180.0
# How the agent is started. @NAME@ is filled in below.
LAUNCH: dict[str, Any] = {}
# By caller ("" is the parent, "1" its first child): its steps (after so many outputs of tools,
# having heard nothing: 0, a word: 1, all answers: 2), each by form of the answer; a tape an
# attempt, the last one for all further attempts.
TAPES: dict[str, list[dict[str, Any]]] = {}
