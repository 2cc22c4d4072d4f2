"""The formats in which a run leaves, one a file; the interface is `runs/export.py`."""
