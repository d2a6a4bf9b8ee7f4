"""The fitted part of the deterministic judge: what was learnt of labelled texts, as weights that ship with the package.

It asks two things of a text. Which mechanism it is about, whatever is true (:data:`~.weights.Weights.heard`), and whether
it tells the fault in question as a right account does, with components, objects and values replaced by what they are to
that fault (:mod:`~.wording`). ``tools_dev/fit_reader.py`` makes the weights.
"""
