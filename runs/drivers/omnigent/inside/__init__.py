"""Runs inside the seal, by itself: starts omnigent's server and runner, drives them, prints all.

    python -I -c START FOLDER PLAN.json        (see the driver's ``launch``)

The agent's network is sealed, so nobody outside can reach its server; this package sits
beside it, as the operator's client. Standard output gets one JSON object a line:

    {"t": seconds, "kind": "sse", "session": ID, "data": EVENT}    an event of a session's stream
    {"t": seconds, "kind": "client/…", …}                          what this client did and heard

It opens the stream of every session that it hears of, and stays until all of them rest.
Then, or when it is told to end, it writes each session as it is stored to
``exports/SESSION.json``. It uses the standard library alone and is written into the run.
"""
