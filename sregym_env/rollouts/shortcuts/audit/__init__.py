"""The audit: what gives a culprit away although it is no evidence.

Over many staged worlds, :mod:`.scene` takes down figures of every object that could be at fault (ages, versions, counts,
sizes, order), :mod:`.rules` names a culprit by each figure alone, :mod:`.classifier` learns from all of them together,
and :mod:`.survey` compares both with chance and with what recency honestly tells. Nothing here reads a specification.
"""
