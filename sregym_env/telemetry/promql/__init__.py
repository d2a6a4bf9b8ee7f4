"""PromQL as Prometheus 2.42 understands it, over :class:`~sregym_env.telemetry.series.SeriesSource`.

From text to answer: ``lexer`` and ``parser`` make a tree (``syntax``), ``checks`` refuses wrong types, ``engine``
evaluates the tree at all steps at once with the pieces in ``ranges``, ``functions``, ``aggregations`` and ``binary``,
``api`` says the result as the HTTP API does, and ``rules`` evaluates recording and alerting rules.
"""
