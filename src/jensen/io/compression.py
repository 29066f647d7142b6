"""gzip: compressed content, unpacked only as far as memory allows."""

import gzip
import io
import zlib

from jensen.exceptions import FileError, JensenError
from jensen.support.machine import check_memory

MAGIC = b"\x1f\x8b"
CHUNK = 1 << 20


def is_compressed(content: bytes) -> bool:
    """Whether a file begins as gzip does."""
    return content.startswith(MAGIC)


def compress(content: bytes) -> bytes:
    """Compress; the same content always gives the same bytes."""
    return gzip.compress(content, mtime=0)


def decompress(content: bytes, file: str) -> bytes:
    """Decompress all parts of a file; content that would not fit into memory is refused."""
    parts: list[bytes] = []
    size = 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            while part := stream.read(CHUNK):
                size += len(part)
                check_memory(20.0 * size, "reading this file", "give a smaller one")
                parts.append(part)
    except EOFError:
        raise FileError(f"{file} is cut off: the compressed text has no end") from None
    except (OSError, zlib.error) as error:
        raise FileError(f"{file} is damaged, or no gzip to its end: {error}") from None
    except JensenError as error:
        raise FileError(f"{file}: {error.marked}") from None
    return b"".join(parts)
