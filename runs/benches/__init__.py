"""Benches that need neither the web server nor a browser, one a file (`runs.bench`)."""
