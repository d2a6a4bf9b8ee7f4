"""Diagnoses by rule: what a fault is, put into the words of different people, truly or falsely.

A wording of a cause (``data/wordings.yaml``) is told from a scene in a voice, and framed as a register does it
(``data/frames.yaml``). No wording and no frame stands in both parts of the set.
"""
