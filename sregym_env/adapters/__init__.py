"""The environment as other frameworks want it: thin layers, one file per framework.

In flow the frameworks' own calls, out come their own types; what an episode is stays in
:mod:`~sregym_env.adapters.session`. Each file imports its framework, and nothing else imports the file.
"""
