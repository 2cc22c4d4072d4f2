"""An app-server that is killed as by a crash, and started again on the same home.

A shell inside of the seal keeps it: it hands on every line but :data:`KILL`, at which it
kills the app-server, says so in a line of its own, and starts the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

NEVER: Final = "never"
MOMENTS: Final = ("child-running", "child-ended", "child-told")
"""A sub-agent answers; its turn is over; its parent says something after that."""
OURS: Final = "lifeline/"
KILL: Final = f"{OURS}kill"
KILLED: Final = f"{OURS}killed"
ORDER: Final = f'{{"method":"{KILL}"}}'.encode()
"""The line that asks for it."""
KEEPER: Final = f"""
pipe="$HOME/.lifeline-pipe"
begin() {{ rm -f "$pipe"; mkfifo "$pipe"; "$0" app-server <"$pipe" & pid=$!; exec 3>"$pipe"; }}
begin
while IFS= read -r line; do
  if [ "$line" = '{ORDER.decode()}' ]; then
    kill -KILL "$pid"; wait "$pid" 2>/dev/null; exec 3>&-
    printf '{{"method":"{KILLED}","params":{{"pid":%d,"signal":9}}}}\\n' "$pid"
    begin
  else
    printf '%s\\n' "$line" >&3
  fi
done
exec 3>&-; wait "$pid"
"""
"""For ``sh -c``, with the executable as its name."""


class Moment:
    """Recognises one moment of a conversation, once. `word`: one of :data:`MOMENTS`, or never."""

    def __init__(self, word: str, root: str) -> None:
        self._word, self._root = word, root
        self._ended = False

    def is_now(self, message: Mapping[str, Any]) -> bool:
        """Whether this message is that moment."""
        params = message.get("params")
        thread = params.get("threadId") if isinstance(params, Mapping) else None
        method, mine = message.get("method"), thread == self._root
        if not thread or self._word == NEVER:
            return False
        self._ended = self._ended or (method == "turn/completed" and not mine)
        found = {
            "child-running": method == "item/agentMessage/delta" and not mine,
            "child-ended": self._ended,
            "child-told": self._ended and mine and method == "item/agentMessage/delta",
        }[self._word]
        self._word = NEVER if found else self._word
        return found
