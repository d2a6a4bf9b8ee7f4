"""What containers run: servers, shells, tools and load generators, one class a program.

In: a context (:class:`~sregym_env.sim.processes.context.ProcessContext`) with the real command line, environment,
files and network. Out: listening ports, answers, log lines, files. :mod:`.registry` lists them by name.
"""
