"""Benches of what a browser touches, one a file (`runs.bench`)."""
