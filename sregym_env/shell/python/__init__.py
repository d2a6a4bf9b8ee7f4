"""A small part of Python, interpreted: what people type on a machine to look into JSON and to calculate.

Text is parsed (``ast``) and never compiled: a walk over the tree carries it out on plain values, with a bound on steps
and on memory. What is not listed here cannot be said: attributes are those of :data:`~sregym_env.shell.python.values.METHODS`,
modules those of :mod:`~sregym_env.shell.python.library`.
"""
