"""What a served world remembers of how objects are written is bounded, however many there were."""

from __future__ import annotations

import tracemalloc

from sregym_env.serve.encoding import MAX_BYTES, Encoder


def test_states_that_are_no_more_are_forgotten() -> None:
    encoder = Encoder()
    tracemalloc.start()
    try:
        for number in range(30_000):
            encoder.whole({"metadata": {"name": f"pod-{number}", "resourceVersion": "x" * 1000}})
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 2.5 * MAX_BYTES


def test_the_same_object_is_encoded_once() -> None:
    encoder, obj = Encoder(), {"metadata": {"name": "x"}}
    assert encoder.whole(obj) is encoder.whole(obj)
    assert encoder.whole(obj) is not encoder.whole(dict(obj))
