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
        with pytest.raises(jn.FileError, match=r"^net\.gz( is cut off|: )"):
            decompress(packed[:length], "net.gz")


def test_damaged_bytes_are_refused():
    packed = bytearray(compress(b"some text of a network"))
    packed[15] ^= 0xFF
    with pytest.raises(jn.FileError, match=r"^net\.gz: Error -3 while decompressing"):
        decompress(bytes(packed), "net.gz")


def test_a_bomb_is_refused_before_it_fills_memory():
    bomb = gzip.compress(b"\0" * (1 << 26))
    try:
        jn.set_memory_limit(1 << 27)
        with pytest.raises(jn.FileError, match="reading this file would take"):
            decompress(bomb, "bomb.gz")
    finally:
        jn.set_memory_limit(None)
