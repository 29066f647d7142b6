"""Damaged files: bytes cut, flipped, doubled or lost; and JSON with a value of another type."""

import copy

STRANGE = [None, True, -1, 0, 1, 2**40, 2**70, 1e308, 0.5, "", "x", "-inf", [], [[]], {}, {"x": 1}]


def damaged_bytes(content, rng):
    """The content with one to three faults."""
    content = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        at, size = int(rng.integers(0, len(content) + 1)), int(rng.integers(1, 40))
        kind = rng.integers(0, 5)
        if kind == 0:
            del content[at:]
        elif kind == 1 and at < len(content):
            content[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 2:
            content[at : at + size] = rng.bytes(size)
        elif kind == 3:
            del content[at : at + size]
        else:
            content[at:at] = content[at : at + size]
        if not content:
            break
    return bytes(content)


def damaged_document(document, rng):
    """A JSON document in which one value is another, is lost, or stands twice."""
    document = copy.deepcopy(document)
    places = list(_places(document))
    by_depth = sorted({depth for *_, depth in places})
    depth = by_depth[int(rng.integers(0, len(by_depth)))]  # else nearly all are leaves
    chosen = [place for place in places if place[2] == depth]
    parent, key, _ = chosen[int(rng.integers(0, len(chosen)))]
    kind = rng.random()
    if kind < 0.15:
        del parent[key]
    elif kind < 0.3 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    else:
        parent[key] = STRANGE[int(rng.integers(0, len(STRANGE)))]
    return document


def _places(value, depth=0):
    """Every value in a document: what holds it, under which key, how deep."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    for key in keys:
        yield value, key, depth
        if isinstance(value[key], dict | list):
            yield from _places(value[key], depth + 1)
