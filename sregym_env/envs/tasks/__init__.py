"""What there is to play: every pair, suites by name, splits, and a curriculum over them.

In flow the declarations and the inventory of healthy worlds, out come tuples of
:class:`~sregym_env.faults.problems.Problem`, always in one order.
"""
