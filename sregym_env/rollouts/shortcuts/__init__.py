"""Shortcuts: policies that win without understanding, played on purpose, so that nobody else finds them first.

A shortcut is fault-agnostic: it does the same whatever is wrong, or reads figures (ages, counts, versions, order) whose
meaning it does not know. It may know the source code of the application and of this environment, and remember other
worlds; it plays by :meth:`~sregym_env.envs.env.SREGymEnv.step` as any agent does.

* :mod:`.catalog` lists them, :mod:`.blind`, :mod:`.cues`, :mod:`.repairs` and :mod:`.diagnoses` say what they do;
* :mod:`.playing` plays them, :mod:`.table` sums up, :mod:`.limits` says what they may earn;
* :mod:`.audit` looks at staged worlds for what gives the culprit away without being evidence.
"""
