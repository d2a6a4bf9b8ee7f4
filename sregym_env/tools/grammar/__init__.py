"""The dialects in which models write tool calls: one file each, all pure, none of which raises.

:func:`sregym_env.tools.parse.parse` puts them in order.
"""
