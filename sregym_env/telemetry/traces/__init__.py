"""Traces: Jaeger's query API and views for agents over a lazily rendered source of spans.

``model.py`` says what a span is, ``source.py`` what a world has to offer, ``http.py`` what a client asks, ``text.py``
what an agent reads. Behaviour is that of Jaeger 1.57 with its store in memory (``docs/traces.md``).
"""
