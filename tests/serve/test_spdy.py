"""SPDY frames: what is written can be read, in any portions."""

from __future__ import annotations

import zlib

from hypothesis import given
from hypothesis import strategies as st

from sregym_env.serve import spdy


def test_the_dictionary_is_that_of_the_specification() -> None:
    # The identifier that every SPDY/3 header block begins with.
    assert (len(spdy.dictionary()), zlib.adler32(spdy.dictionary())) == (1423, 0xE3C6A7C2)


_NAMES = st.text(st.characters(codec="ascii", categories=("Ll", "Nd")), min_size=1, max_size=8)


@given(
    st.lists(st.dictionaries(_NAMES, _NAMES, max_size=4), min_size=1, max_size=4),
    st.binary(max_size=300),
    st.integers(1, 40),
)
def test_frames_survive_the_wire(blocks: list[dict[str, str]], payload: bytes, portion: int) -> None:
    writer, reader = spdy.Writer(), spdy.Reader()
    wire = b"".join(writer.headers(spdy.SYN_STREAM, 2 * i + 1, block) for i, block in enumerate(blocks))
    wire += spdy.data(1, payload, fin=True) + spdy.control(spdy.PING, b"\0\0\0\1")
    frames = []
    for start in range(0, len(wire), portion):
        frames += reader.feed(wire[start : start + portion])
    assert [dict(frame.headers) for frame in frames[:-2]] == blocks
    assert [frame.stream for frame in frames[:-2]] == [2 * i + 1 for i in range(len(blocks))]
    assert (frames[-2].data, frames[-2].fin, frames[-2].stream) == (payload, True, 1)
    assert (frames[-1].type, frames[-1].data) == (spdy.PING, b"\0\0\0\1")
