"""A malformed file is refused in words, with its name and the place; nothing else ever happens."""

import json
import random
import subprocess
import sys
from copy import deepcopy

import pytest
from naive.files import editable, without_checksum

import jensen as jn
from jensen import io
from jensen.estimators.network_kinds import TABLES
from jensen.estimators.reports import OF_STARTS, needed

FILE = "some/net.json"
OPTIONAL = TABLES.stored.keys() - needed(TABLES.stored)


@pytest.fixture
def content(full_net):
    return io.to_bytes(full_net)


@pytest.fixture
def document(content):
    return editable(content)


def parse(document):
    return io.from_bytes(json.dumps(document).encode(), FILE)


def refusal(content):
    with pytest.raises(jn.FileError) as error:
        io.from_bytes(content if isinstance(content, bytes) else content.encode(), FILE)
    assert str(error.value).startswith(FILE)
    assert error.value.__cause__ is None
    return str(error.value).removeprefix(FILE).lstrip(": ,")


def paths(value, path=()):
    """Every place in a document."""
    yield path
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from paths(part, (*path, key))


def at(document, path):
    for key in path:
        document = document[key]
    return document


def changed(document, path, value):
    """A copy with another value at one place."""
    if not path:
        return value
    copy = deepcopy(document)
    at(copy, path[:-1])[path[-1]] = value
    return copy


def spelled(path):
    """A path as messages spell it."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text or "the document"


# --- bytes ---


def test_a_file_cut_anywhere_is_refused(content):
    assert io.from_bytes(content.rstrip(), FILE)
    for stop in range(len(content.rstrip())):
        message = refusal(content[:stop])
        assert "line" in message or "UTF-8" in message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1, column 1: expecting value"),
        (b"\x00", "line 1, column 1: expecting value"),
        (b"rain,wet\nno,no\n", "line 1, column 1: expecting value"),
        (b"{'format': 1}", "line 1, column 2: expecting property name enclosed in double quotes"),
        (b'{"format":\n "jensen-network",}', "line 2, column 1"),
        (b'{"format": "jensen-network"} x', "line 1, column 30: extra data"),
        (b'{"format": "\n"}', "line 1, column 13: invalid control character at"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "the name 'c' stands twice in one object"),
        (b'{"\\ud800": 1}', r"the name '\ud800' holds half a character"),
        (b"\xff\xfe{\x00}\x00", "byte 1 is not UTF-8 text"),
        ('{"format": "é"}'.encode("latin-1"), "byte 13 is not UTF-8 text"),
        (b"[" * 100_000, "lists are nested deeper than any network needs"),
        (b'{"format": ' * 100_000, "lists are nested deeper than any network needs"),
        (b'{"format": ' + b"1" * 5000 + b"}", "Exceeds the limit (4300 digits)"),
        (b"[]", "the document must be an object, not a list"),
        (b"null", "the document must be an object, not null"),
        (b"NaN", "the document must be an object, not a number"),
        (b"{}", 'the document is no Jensen network: it must begin with "format": "jensen-network"'),
        (b'{"format": "bif"}', "the document is no Jensen network"),
        (b'{"format": ["jensen-network"]}', "the document is no Jensen network"),
        (b'{"format": "jensen-network"}', "the document lacks 'version'"),
        (b'{"format": "jensen-network", "version": "1"}', "version must be a whole number, not"),
        (b'{"format": "jensen-network", "version": true}', "version must be a whole number, not"),
        (b'{"format": "jensen-network", "version": 1.0}', "version must be a whole number, not"),
        (b'{"format": "jensen-network", "version": 0}', "version is 0, but this Jensen reads ver"),
        (
            b'{"format": "jensen-network", "version": 2, "new": []}',
            "version is 2, but this Jensen reads version 1: update it",
        ),
    ],
)
def test_what_is_no_network_is_refused(content, message):
    assert refusal(content).startswith(message)


def test_half_a_character_is_refused_both_ways(document):
    broken = json.dumps(changed(document, ("variables", 0, "states", 0), "\ud800"))
    assert refusal(broken) == "variables[0].states[0] holds half a character (a lone surrogate)"
    net = jn.BayesianNetwork.from_tables("\udc00", {"\udc00": [1.0]})
    with pytest.raises(jn.FileError, match="half a character, which no file can hold, ends"):
        io.to_bytes(net)


# --- types, at every place ---

OTHERS = [None, True, 7, 2.5, "text", [], {}, [[]], [{}], {"x": 1}, 10**400, -1, [None]]
ALIKE = {int: "number", float: "number"}


def kind(value):
    return ALIKE.get(type(value), type(value).__name__)


def test_a_wrong_type_is_refused_at_every_place(document):
    places = [p for p in paths(document) if p[:2] != ("choices", "prior")]
    assert len(places) > 60
    for path in places:
        old = at(document, path)
        for value in OTHERS:
            optional = path in {("learned",), ("choices", "method")} and value is None
            if kind(value) == kind(old) or optional:
                continue
            message = refusal(json.dumps(changed(document, path, value)))
            if path[:1] in {("format",), ()}:
                assert "the document" in message
            elif path == ("choices", "method"):
                assert message.startswith("choices")
            else:
                assert message.startswith(spelled(path)), message


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "1e999", "1" + "0" * 400])
def test_what_is_not_finite_is_refused_where_it_stands(document, word):
    for path in paths(document):
        if kind(at(document, path)) == "number" and path[-1] != "n_sweeps":
            text = json.dumps(changed(document, path, "@")).replace('"@"', word)
            message = refusal(text)
            if path[:2] == ("choices", "prior"):
                assert message.startswith("choices")
            elif path == ("version",):
                assert message.startswith("version ")
            else:
                assert message == f"{spelled(path)} must be a finite number"


@pytest.mark.parametrize("value", [*OTHERS, [1], {"height": 1}, {"height": [[1], [1, 2]]}])
def test_a_wrong_prior_is_refused(document, value):
    if value is None or value in (7, 2.5):
        assert parse(changed(document, ("choices", "prior"), value)).prior == value
    else:
        broken = changed(document, ("choices", "prior"), value)
        assert refusal(json.dumps(broken)).startswith("choices")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[1], [1, 2]], "choices.prior.height must be a number, or nested lists of numbers shaped"),
        (["1e5x", 1, 1], "choices.prior.height must be a number, or nested lists"),
        ([10**400, 1, 1], "choices.prior.height must be a number, or nested lists"),
        ("x", "choices.prior.height must be a number, not text"),
        ([1, 2], "choices: the prior of 'height' must be"),
        ([1, 2, -3], "choices: the prior of 'height' must be"),
        ([[[[[[1, 2, 3]]]]]], "choices: the prior of 'height' must be"),
    ],
)
def test_a_wrong_concentration_is_refused(document, value, message):
    broken = changed(document, ("choices", "prior", "height"), value)
    assert refusal(json.dumps(broken)).startswith(message)


@pytest.mark.parametrize("depth", [30, 70, 300, 900])
def test_deep_lists_are_refused_wherever_they_stand(document, depth):
    deep = json.loads("[" * depth + "1" + "]" * depth)
    for path in [("choices", "prior", "sex"), ("variables", 0, "table"), ("learned", "trace")]:
        refusal(json.dumps(changed(document, path, deep)))


# --- members ---


def test_a_missing_member_is_refused_at_every_place(document):
    optional = {"properties", "cuts", "posterior", "title", "source", "position"}
    for path in paths(document):
        if not path or not isinstance(path[-1], str) or path[:2] == ("choices", "prior"):
            continue
        broken = deepcopy(document)
        del at(broken, path[:-1])[path[-1]]
        if path[-1] == "posterior":
            assert refusal(json.dumps(broken)) == "variables must have a posterior each, or none"
        elif path == ("format",):
            assert refusal(json.dumps(broken)).startswith("the document is no Jensen network")
        elif path[-1] not in optional:
            expected = f"{spelled(path[:-1])} lacks {path[-1]!r}"
            assert refusal(json.dumps(broken)) == expected
        else:
            assert parse(broken)


def test_an_unknown_member_is_refused_at_every_place(document):
    for path in paths(document):
        if isinstance(at(document, path), dict) and path[-1:] != ("properties",):
            broken = deepcopy(document)
            at(broken, path)["colour"] = "red"
            message = refusal(json.dumps(broken))
            if path != ("choices", "prior"):
                place = spelled(path)
                assert message == f"{place} holds 'colour', which this format does not know"


# --- sense ---


def edit(document, *changes):
    for path, value in changes:
        document = changed(document, path, value)
    return json.dumps(document)


V = "variables"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([((V, 1, "name"), "height")], "variables[1].name repeats the variable 'height'"),
        ([((V, 1, "name"), "")], "a node's name must not be empty"),
        ([((V, 1, "states"), ["x", "x"])], "the states of 'sex' repeat 'x'"),
        ([((V, 1, "states"), [])], "variables[1].states must name one state at least"),
        ([((V, 1, "states"), ["x", "y", "z"])], "variables[1].table has 2 numbers, but the vari"),
        ([((V, 2, "parents"), ["heigth"])], "variables[2].parents names 'heigth', which is no va"),
        ([((V, 2, "parents"), ["height"] * 2)], "the edge 'height -> \"shoe size\"' stands twice"),
        ([((V, 1, "parents"), ["sex"])], "'sex -> sex' joins 'sex' to itself"),
        ([((V, 0, "parents"), ["shoe size"])], "'\"shoe size\" -> height' and 'height -> \"shoe"),
        (
            [((V, 0, "parents"), ["sex"]), ((V, 1, "parents"), ["shoe size"])],
            "a DAG has no cycles, but here is one: ",
        ),
        ([((V, 1, "table"), [[0.5, 0.5]])], "variables[1].table[0] must be a number, not a list"),
        ([((V, 1, "table"), [1.0])], "variables[1].table has 1 numbers, but the variable has 2"),
        ([((V, 2, "table"), [[1, 0]] * 2)], "variables[2].table has 2 parts, but that parent has"),
        ([((V, 2, "table", 1), [1.0])], "variables[2].table[1] has 1 numbers, but the variable h"),
        ([((V, 2, "table", 1), [-0.5, 1.5])], "variables[2].table[1] holds a negative number"),
        ([((V, 1, "table"), [0.7, 0.7])], "row 1 of the table of 'sex' sums to 1.4, not to 1"),
        ([((V, 2, "table", 2), [0, 0])], "row 3 of the table of 'shoe size' sums to 0, not to 1"),
        ([((V, 1, "table"), [0.5, 0.50011])], "row 1 of the table of 'sex' sums to 1.00011, not"),
        ([((V, 1, "table"), [0.5, 0.49989])], "row 1 of the table of 'sex' sums to 0.99989, not"),
        ([((V, 1, "table"), [1.0, 2.0])], "the table of 'sex' holds entries that are no prob"),
        ([((V, 1, "posterior"), [-1, 1])], "variables[1].posterior holds a negative number"),
        ([((V, 1, "posterior"), [1])], "variables[1].posterior has 1 numbers, but the variable"),
        ([((V, 0, "cuts"), [1.5])], "'height' needs finite, rising cut points, one fewer"),
        ([((V, 0, "cuts"), [1.75, 1.5])], "'height' needs finite, rising cut points"),
        (
            [(("choices", "method"), "magic")],
            "choices: there is no method 'magic': choose one of em, vbem, ",
        ),
        (
            [(("choices", "equivalent_sample_size"), 0)],
            "choices: equivalent_sample_size must be positive",
        ),
        (
            [(("choices", "equivalent_sample_size"), 3)],
            "choices: equivalent_sample_size=3.0 belongs to prior='bdeu' or 'bds'",
        ),
        (
            [(("choices", "prior"), -1.0)],
            "choices: a Dirichlet concentration must be positive and finite",
        ),
        ([(("choices", "prior"), "jeffreys")], "choices: there is no prior 'jeffreys'"),
    ],
)
def test_what_makes_no_sense_is_refused(document, changes, message):
    assert refusal(edit(document, *changes)).startswith(message)


@pytest.mark.parametrize("row", [[0.5, 0.50009], [0.5, 0.49991], [0.0, 1.00009]])
def test_rows_within_the_tolerance_are_read(row):
    net = jn.BayesianNetwork.from_tables("sex", {"sex": [0.5, 0.5]})
    text = without_checksum(io.to_bytes(net)).decode()
    net = io.from_bytes(text.replace("[0.5, 0.5]", str(row)).encode(), FILE)
    assert net.network_.part("sex", net.network_.tables).tolist() == row


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((("learned", "n_sweeps"), -1), "learned.n_sweeps must not be negative"),
        ((("learned", "trace"), []), "learned.trace must end in free_energy"),
        ((("learned", "trace"), [0.5]), "learned.trace must end in free_energy"),
        ((("learned", "is_bound"), False), "learned.is_bound must be true if there is a posterior"),
        ((("choices", "method"), ""), "choices: there is no method ''"),
        (((V, 1, "table"), [0.25, 0.75]), "the table of 'sex' is not the mean of its posterior"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(document, change, message):
    assert refusal(edit(document, change)).startswith(message)


# --- chains: choices, samples, and how they mixed ---


@pytest.fixture
def chains(chain_net):
    return editable(io.to_bytes(chain_net))


@pytest.mark.slow
def test_a_wrong_type_is_refused_at_every_place_of_chains(chains):
    null = {"learned", "learned.free_energy", "learned.r_hat", "learned.effective_sample_size"}
    for path in paths(chains):
        old, place = at(chains, path), spelled(path)
        if path[-1:] == ("method",) or path[:1] == ("properties",) or path == ():
            continue
        if place in ("learned.free_energy", "choices.prior", "choices.hidden.c"):
            continue  # which may be of several types
        if "samples" in path[:-1] and path[path.index("samples") + 1] > 1:
            continue  # as those before
        for value in OTHERS:
            if kind(value) == kind(old) or (value is None and place in null):
                continue
            message = refusal(json.dumps(changed(chains, path, value)))
            shown = "learned.trace" if path[:2] == ("learned", "trace") else place
            assert message.startswith(("the document", shown)), (path, value, message)


@pytest.mark.parametrize("name", sorted({*OPTIONAL, *OF_STARTS, "samples"}))
def test_members_that_may_be_left_out(chains, name):
    for path in paths(chains):
        if path[-1:] != (name,):
            continue
        broken = deepcopy(chains)
        del at(broken, path[:-1])[name]
        if name == "samples":
            message = "variables must have samples each, or none; and no posterior beside them"
            assert refusal(json.dumps(broken)) == message
        else:
            parse(broken)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((("choices", "hidden"), {"x": 2}), "choices: the network has no variable 'x'"),
        ((("choices", "hidden", "c"), 3), "choices: hidden gives 'c' the states 3, but the net"),
        ((("choices", "hidden", "c"), ["lo"]), "choices: hidden gives 'c' the states ['lo'], but"),
        ((("choices", "hidden", "c"), [1, 2]), "choices.hidden.c[0] must be text, not a number"),
        ((("choices", "n_samples"), 0), "choices: n_samples must be a whole number, 1 or more"),
        ((("choices", "n_samples"), 1.5), "choices.n_samples must be a whole number"),
        ((("choices", "n_init"), 3), "choices: n_init belongs to methods such as 'em'"),
        ((("choices", "tol"), 0.5), "choices: tol belongs to methods such as 'em'"),
        ((("choices", "tol"), "x"), "choices.tol must be a number, not text"),
        ((("choices", "random_state"), -1), "choices.random_state must not be negative"),
        ((("choices", "start"), None), "choices holds 'start', which this format does not know"),
        ((("learned", "trace"), [[1.0, 2.0]]), "learned.trace has 2 values, but there are 12"),
        ((("learned", "trace"), [[1.0], []]), "learned.trace[1] must hold one number at least"),
        ((("learned", "trace"), [[1.0], [1.0, 2.0]]), "learned.trace[1] must hold one number at"),
        ((("learned", "trace"), [[None]]), "learned.trace[0][0] must be a number, not null"),
        ((("learned", "trace"), [1.0]), "learned.free_energy may be null for chains only"),
        ((("learned", "r_hat"), "much"), "learned.r_hat must be a number, not text"),
        ((("learned", "starts"), ["a"]), "learned.starts[0] must be a number, not text"),
        (((V, 0, "samples"), []), "variables[0].samples must hold one sample at least"),
        (((V, 0, "samples"), [[0.5, 0.5]]), "variables[0].samples must have the table as its mean"),
        (((V, 0, "samples", 3), [0.5]), "variables[0].samples[3] has 1 numbers, but the variable"),
        (((V, 0, "samples", 3), [0.5, 0.7]), "variables[0].samples holds a row that does not sum"),
        (((V, 0, "samples", 3), [-0.5, 1.5]), "variables[0].samples[3] holds a negative number"),
        (((V, 2, "samples", 3, 1), []), "variables[2].samples[3][1] has 0 parts, but that parent"),
        (((V, 3, "posterior"), [1.0, 1.0]), "variables must have a posterior each, or none"),
    ],
)
def test_chains_that_make_no_sense_are_refused(chains, change, message):
    assert refusal(edit(chains, change)).startswith(message)


def test_samples_of_all_variables_are_equally_many(chains):
    mean = at(chains, (V, 1, "table"))
    message = refusal(edit(chains, ((V, 1, "samples"), [mean])))
    assert message.startswith("variables[1].samples must hold one sample at least, and as many")


def test_there_is_a_posterior_or_there_are_samples(document):
    for variable in document[V]:
        variable["samples"] = [variable["table"]]
    message = refusal(json.dumps(document))
    assert message == "variables must have samples each, or none; and no posterior beside them"


def test_the_starts_have_the_value_of_the_best(document):
    parse(changed(document, ("learned", "starts"), [-1e9, document["learned"]["free_energy"]]))
    for starts in ([], [-1e9]):
        broken = json.dumps(changed(document, ("learned", "starts"), starts))
        assert refusal(broken) == "learned.starts must have free_energy as its largest number"


@pytest.mark.parametrize("seed", range(2))
def test_a_mutated_file_of_chains_is_read_or_refused_in_words(chains, chain_net, seed):
    rng, content = random.Random(seed), io.to_bytes(chain_net)
    for k in range(300):
        use, source = (mutate_bytes, content) if k % 2 else (mutate_document, chains)
        net = read_or_refuse(use(rng, source))
        if net is not None:
            assert io.to_bytes(io.from_bytes(io.to_bytes(net), FILE)) == io.to_bytes(net)


# --- files ---


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    with pytest.raises(jn.FileError, match=r"cannot read .*gone\.json: No such file or directory"):
        jn.load(tmp_path / "gone.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(jn.FileError, match=r"cannot read .*folder\.json: Is a directory"):
        jn.load(tmp_path / "folder.json")


@pytest.mark.parametrize("name", ["net", "net.txt", "net.gz", ".json", ""])
def test_a_suffix_that_names_no_format_is_not_written(name, full_net, tmp_path):
    with pytest.raises(jn.FileError, match=r"cannot tell the format of .*: a network ends in"):
        full_net.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_the_content_tells_the_format_where_the_suffix_does_not(full_net, tmp_path):
    (tmp_path / "net").write_bytes(io.to_bytes(full_net))
    assert jn.load(tmp_path / "net").equals(full_net)
    (tmp_path / "net").write_text("What is this?")
    with pytest.raises(jn.FileError, match=r"neither by its name nor by its content: a network"):
        jn.load(tmp_path / "net")


def test_an_unfitted_network_is_not_saved(tmp_path):
    with pytest.raises(jn.NotFittedError, match=r"call fit\(table\) first"):
        jn.BayesianNetwork("a").save(tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


def test_choices_that_no_fit_allows_are_not_saved(full_net, tmp_path):
    full_net.set_params(prior={"height": 1.0})
    with pytest.raises(jn.JensenError, match="a prior by variable names each of them once"):
        full_net.save(tmp_path / "net.json")
    assert not list(tmp_path.iterdir())


# --- mutations ---


def mutate_bytes(rng, content):
    data = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        i, j = sorted(rng.randrange(len(data)) for _ in range(2))
        j = min(j, i + 12)
        step = rng.randrange(5)
        if step == 0:
            data[i] = rng.randrange(256)
        elif step == 1:
            del data[i:j]
        elif step == 2:
            data[i:i] = bytes(rng.choices(b'0123456789{}[],:"eE+-.null\\u \n', k=rng.randint(1, 4)))
        elif step == 3:
            data[i:i] = data[i:j]
        else:
            data[i] = rng.choice(b"0123456789")
    return bytes(data)


def mutate_document(rng, document):
    value = deepcopy(document)
    for _ in range(rng.randint(1, 3)):
        places = list(paths(value))
        path, other = rng.choice(places), rng.choice(places)
        step = rng.randrange(4)
        if step == 0:
            value = changed(value, path, deepcopy(at(value, other)))
        elif step == 1:
            value = changed(value, path, rng.choice([*OTHERS, 0, 1, 0.5, 1e-320, 1e308, "a", ""]))
        elif path and step == 2:
            del at(value, path[:-1])[path[-1]]
        elif path and isinstance(at(value, path[:-1]), list):
            at(value, path[:-1]).append(deepcopy(at(value, path)))
    return json.dumps(value).encode()


@pytest.mark.parametrize("seed", range(2))
def test_a_mutated_file_is_read_or_refused_in_words(content, document, seed):
    rng, read = random.Random(seed), 0
    for k in range(600):
        use, source = (mutate_bytes, content) if k % 2 else (mutate_document, document)
        net = read_or_refuse(use(rng, source))
        if net is not None:
            read += 1
            assert io.from_bytes(io.to_bytes(net), FILE).equals(net)
    assert 0 < read < 300


def read_or_refuse(content):
    """The network, or None if the file is refused in words; anything else is a failure."""
    try:
        return io.from_bytes(content, FILE)
    except jn.FileError as error:
        return None if str(error).startswith(FILE) else pytest.fail(f"{error}: {content!r}")


# --- code ---

AUDIT = """
import sys
import jensen as jn

for path in sys.argv[1:2]:
    jn.load(path)
seen = []
sys.addaudithook(lambda event, _: seen.append(event))
for path in sys.argv[1:]:
    try:
        jn.load(path)
    except jn.FileError:
        pass
print(sorted(set(seen)))
"""


@pytest.mark.slow
def test_loading_runs_no_code(full_net, document, tmp_path):
    full_net.save(tmp_path / "good.json")
    evil = changed(document, ("properties", "title"), "__import__('os').system('touch owned')")
    evil = changed(evil, (V, 0, "name"), "!!python/object/apply:os.system ['touch owned']")
    (tmp_path / "evil.json").write_text(json.dumps(evil))
    (tmp_path / "pickle.json").write_bytes(b"cos\nsystem\n(S'touch owned'\ntR.")
    files = ["good.json", "evil.json", "pickle.json"]
    done = subprocess.run(
        [sys.executable, "-c", AUDIT, *files],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "['open']"
    assert not (tmp_path / "owned").exists()
