"""Applications that are folders: manifests, and a declaration of what their images do.

:mod:`~.schema` is the declaration, :mod:`~.reading` makes an :class:`~sregym_env.cluster.app.App` of it and of the
manifests. Folders whose applications should be known by name stand in the environment variable ``SREGYM_APPS``,
separated as in ``PATH``; worker processes inherit it.
"""
