"""Packaged schema data, made by ``tools_dev/build_schema.py``; read by :mod:`sregym_env.kube.schema`."""
