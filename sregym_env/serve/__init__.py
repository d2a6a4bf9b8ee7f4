"""The embedded cluster over HTTP: real kubectl, Helm and client libraries talk to a simulated world.

``app.py`` is the ASGI application, ``server.py`` runs it with TLS and writes a kubeconfig. Everything
happens in one thread, on one event loop: between two requests nothing else touches the world.
"""
