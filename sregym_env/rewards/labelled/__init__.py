"""Diagnoses of which it is known whether they are right: what a judge is measured with before anybody trains against it.

Most are generated from fault specs (:mod:`~sregym_env.rewards.labelled.grammar`), the rest was written one by one
(``data/written_*.jsonl``). All are of the published Hotel Reservation. Their labels follow from how they were made.
"""
