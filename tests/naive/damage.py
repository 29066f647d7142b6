"""Damaged files: bytes cut, flipped or lost; JSON with a value of another type; odd CSV."""

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


FAULTS = {
    "a field too many": lambda lines, mark: [*lines[:4], f"{lines[4]}{mark}x", *lines[5:]],
    "a field too few": lambda lines, mark: [*lines, "x"],
    "an open quote": lambda lines, mark: [*lines[:3], f'"{lines[3]}', *lines[4:]],
    "a header only": lambda lines, mark: lines[:1],
    "a header and blank lines": lambda lines, mark: [lines[0], "", "", ""],
    "blank lines only": lambda lines, mark: ["", "", ""],
    "nothing": lambda lines, mark: [],
    "a name twice": lambda lines, mark: [mark.join(["x", "x", "y"]), *lines[1:]],
    "a zero byte": lambda lines, mark: [*lines[:5], f"\0{lines[5]}", *lines[6:]],
    "row names": lambda lines, mark: [lines[0], *(f"1{mark}{line}" for line in lines[1:])],
}
ENCODINGS = ("utf-16", "utf-16-le", "utf-16-be", "latin-1", "utf-32")


def odd_file(rng, n_rows=12):
    """A text file as some program writes it, its columns, and what is wrong with it, or None."""
    columns = {
        "größe": rng.choice(["klein", "groß"], n_rows).tolist(),
        "b, c": rng.choice(["yes", "no", "?!"], n_rows).tolist(),
        "n": rng.choice(["1", "2", "10"], n_rows).tolist(),
    }
    mark, end = rng.choice(list(",;\t|")), rng.choice(["\n", "\r\n", "\r"])
    quote = rng.random() < 0.5
    show = (lambda x: f'"{x}"') if quote else (lambda x: f'"{x}"' if "," in x else x)
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    lines = [mark.join(map(show, row)) for row in rows]
    wrong = rng.choice([*FAULTS, *ENCODINGS]) if rng.random() < 0.5 else None
    if wrong in FAULTS:
        lines = FAULTS[wrong](lines, mark)
    elif rng.random() < 0.3:
        lines[2:2] = [""] * int(rng.integers(1, 3))
    if rng.random() < 0.5:
        lines = [f"sep={mark}", *lines]
    text = end.join(lines) + (end if rng.random() < 0.5 else "")
    if wrong in ENCODINGS:
        return text.encode(wrong), columns, wrong
    return text.encode("utf-8-sig" if rng.random() < 0.5 else "utf-8"), columns, wrong
