"""Compressed network files."""

import gzip

import pytest

import jensen as jn
from jensen.io.compression import compress, decompress


def test_a_compressed_network_reads_back(tmp_path):
    net = jn.examples.load("asia")
    for name in ("net.json.gz", "net.bif.gz", "NET.JSON.GZ"):
        net.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(b"\x1f\x8b")
        assert jn.load(tmp_path / name).equals(net)


def test_a_truncated_file_is_refused_at_every_length():
    packed = compress(b"some text of a network")
    for length in range(2, len(packed)):
        with pytest.raises(jn.FileError, match=r"^net\.gz is (cut off|damaged)"):
            decompress(packed[:length], "net.gz")


def test_damaged_bytes_are_refused():
    whole = compress(b"some text of a network")
    for place in range(10, len(whole)):
        packed = bytearray(whole)
        packed[place] ^= 0xFF
        with pytest.raises(jn.FileError, match=r"^net\.gz is (damaged|cut off)"):
            decompress(bytes(packed), "net.gz")


def test_all_parts_are_read_and_nothing_may_follow_them():
    parts = compress(b"some text ") + compress(b"of a network")
    assert decompress(parts, "net.gz") == b"some text of a network"
    assert decompress(parts + bytes(100), "net.gz") == b"some text of a network"  # padding
    with pytest.raises(jn.FileError, match=r"^net\.gz is damaged, or no gzip to its end"):
        decompress(parts + b"more", "net.gz")


def test_a_bomb_is_refused_before_it_fills_memory():
    bomb = gzip.compress(b"\0" * (1 << 26))
    try:
        jn.set_memory_limit(1 << 27)
        with pytest.raises(jn.FileError, match="reading this file would take"):
            decompress(bomb, "bomb.gz")
    finally:
        jn.set_memory_limit(None)
