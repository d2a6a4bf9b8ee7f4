"""LogQL: Loki's query language and its HTTP API over a lazily rendered source of log lines.

``source.py`` is what a world has to offer, ``http.py`` what a client asks, ``text.py`` what an agent reads. Behaviour
and error texts are those of Loki 3 (``docs/logql.md`` says what is there and what is not).
"""
