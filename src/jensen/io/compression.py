"""Compressed files, opened no further than memory allows."""

import gzip
import zlib

from jensen.exceptions import FileError, JensenError
from jensen.memory import check_memory

MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20


def is_compressed(content: bytes) -> bool:
    """Whether a file begins as gzip does."""
    return content.startswith(MAGIC)


def compress(content: bytes) -> bytes:
    """The content as gzip; the same content gives the same bytes."""
    return gzip.compress(content, mtime=0)


def decompress(content: bytes, file: str) -> bytes:
    """What gzip packed; a few bytes that would unpack to gigabytes are refused."""
    unpacker = zlib.decompressobj(wbits=31)
    parts: list[bytes] = []
    size = 0
    try:
        while not unpacker.eof:
            part = unpacker.decompress(content, CHUNK)
            if not part and not unpacker.unconsumed_tail:
                break
            size += len(part)
            check_memory(20.0 * size, "reading this file", "give a smaller one")
            parts.append(part)
            content = unpacker.unconsumed_tail
    except (zlib.error, JensenError) as error:
        raise FileError(f"{file}: {error}") from None
    if not unpacker.eof:
        raise FileError(f"{file} is cut off: the compressed text has no end")
    return b"".join(parts)
