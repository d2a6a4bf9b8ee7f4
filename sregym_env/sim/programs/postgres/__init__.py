"""PostgreSQL: the server, its data, and the clients of its image.

* :mod:`~.errors`: reports with their SQLSTATE,
* :mod:`~.tokens`, :mod:`~.tree`, :mod:`~.parse`: SQL, as far as applications and operators write it,
* :mod:`~.catalog`: roles, databases and tables as frozen values,
* :mod:`~.expressions`, :mod:`~.execute`, :mod:`~.views`: what statements do,
* :mod:`~.sessions`: who is connected, and which locks hold whom up,
* :mod:`~.server`: the program ``postgres``,
* :mod:`~.psql`, :mod:`~.tools`: ``psql``, ``pg_isready``, ``pg_dump``.
"""
