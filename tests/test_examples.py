"""The bundled networks are those of the literature: typed again here, and enumerated."""

from pathlib import Path

import numpy as np
import pytest
from naive import joint
from naive.joint import binary

import jensen as jn

# Lauritzen and Spiegelhalter (1988), table 1 and figure 2; P(yes | parents), "no" before "yes".
ASIA = {
    "asia": binary([], 0.01),
    "smoke": binary([], 0.5),
    "tub": binary(["asia"], 0.01, 0.05),
    "lung": binary(["smoke"], 0.01, 0.1),
    "bronc": binary(["smoke"], 0.3, 0.6),
    "either": binary(["lung", "tub"], 0.0, 1.0, 1.0, 1.0),
    "xray": binary(["either"], 0.05, 0.98),
    "dysp": binary(["bronc", "either"], 0.1, 0.7, 0.8, 0.9),
}

# Murphy's tutorial: cloudy, sprinkler, rain, wet grass.
OFF_ON = {("no",): {"off": 0.5, "on": 0.5}, ("yes",): {"off": 0.9, "on": 0.1}}
SPRINKLER = {
    "cloudy": binary([], 0.5),
    "sprinkler": (("cloudy",), OFF_ON),
    "rain": binary(["cloudy"], 0.2, 0.8),
    "wet_grass": (
        ("rain", "sprinkler"),
        {
            ("no", "off"): {"no": 1.0, "yes": 0.0},
            ("no", "on"): {"no": 0.1, "yes": 0.9},
            ("yes", "off"): {"no": 0.1, "yes": 0.9},
            ("yes", "on"): {"no": 0.01, "yes": 0.99},
        },
    ),
}

# Korb and Nicholson, section 2.2: pollution low 0.9, smoker 0.3.
CANCER = {
    "Pollution": ((), {(): {"high": 0.1, "low": 0.9}}),
    "Smoker": ((), {(): {"False": 0.7, "True": 0.3}}),
    "Cancer": (
        ("Pollution", "Smoker"),
        {
            ("high", "False"): {"False": 0.98, "True": 0.02},
            ("high", "True"): {"False": 0.95, "True": 0.05},
            ("low", "False"): {"False": 0.999, "True": 0.001},
            ("low", "True"): {"False": 0.97, "True": 0.03},
        },
    ),
    "Xray": (
        ("Cancer",),
        {
            ("False",): {"negative": 0.8, "positive": 0.2},
            ("True",): {"negative": 0.1, "positive": 0.9},
        },
    ),
    "Dyspnoea": (
        ("Cancer",),
        {("False",): {"False": 0.7, "True": 0.3}, ("True",): {"False": 0.35, "True": 0.65}},
    ),
}

TRUE = {"no": "False", "yes": "True"}


def truth(parents, *true):
    """The rows of a variable with the states "False" and "True"."""
    rows = binary(parents, *true)[1]
    return tuple(parents), {
        tuple(TRUE[x] for x in labels): {TRUE[x]: p for x, p in row.items()}
        for labels, row in rows.items()
    }


# Russell and Norvig, figure 14.2.
BURGLARY = {
    "Burglary": truth([], 0.001),
    "Earthquake": truth([], 0.002),
    "Alarm": truth(["Burglary", "Earthquake"], 0.001, 0.29, 0.94, 0.95),
    "JohnCalls": truth(["Alarm"], 0.05, 0.9),
    "MaryCalls": truth(["Alarm"], 0.01, 0.7),
}

# Koller and Friedman, figure 3.4.
GRADES = {
    ("d0", "i0"): {"g1": 0.3, "g2": 0.4, "g3": 0.3},
    ("d0", "i1"): {"g1": 0.9, "g2": 0.08, "g3": 0.02},
    ("d1", "i0"): {"g1": 0.05, "g2": 0.25, "g3": 0.7},
    ("d1", "i1"): {"g1": 0.5, "g2": 0.3, "g3": 0.2},
}
STUDENT = {
    "Difficulty": ((), {(): {"d0": 0.6, "d1": 0.4}}),
    "Intelligence": ((), {(): {"i0": 0.7, "i1": 0.3}}),
    "Grade": (("Difficulty", "Intelligence"), GRADES),
    "SAT": (
        ("Intelligence",),
        {("i0",): {"s0": 0.95, "s1": 0.05}, ("i1",): {"s0": 0.2, "s1": 0.8}},
    ),
    "Letter": (
        ("Grade",),
        {
            ("g1",): {"l0": 0.1, "l1": 0.9},
            ("g2",): {"l0": 0.4, "l1": 0.6},
            ("g3",): {"l0": 0.99, "l1": 0.01},
        },
    ),
}

PUBLISHED = {"asia": ASIA, "cancer": CANCER, "sprinkler": SPRINKLER}
PUBLISHED |= {"burglary": BURGLARY, "student": STUDENT}


@pytest.mark.parametrize("name", PUBLISHED)
def test_graph_states_and_tables_are_the_published_ones(name):
    net, published = jn.examples.load(name), PUBLISHED[name]
    assert net.graph == jn.DAG.from_parents({x: parents for x, (parents, _) in published.items()})
    found = joint.of(net)
    for x, (parents, rows) in published.items():
        assert found[x][0] == parents
        assert found[x][1].keys() == rows.keys()
        for labels, row in rows.items():
            assert list(found[x][1][labels]) == list(row)
            np.testing.assert_allclose(
                list(found[x][1][labels].values()), list(row.values()), rtol=1e-14
            )


@pytest.mark.parametrize(
    ("variable", "p"),
    [
        ("tub", 0.0104),
        ("lung", 0.055),
        ("bronc", 0.45),
        ("either", 0.064828),
        ("xray", 0.11029004),
        ("dysp", 0.4359706),
    ],
)
def test_asia_has_the_published_marginals(variable, p):
    net = joint.of(jn.examples.load("asia"))
    np.testing.assert_allclose(joint.query(net, variable)["yes"], p, rtol=1e-9)


@pytest.mark.parametrize(
    ("variable", "state", "p"), [("sprinkler", "on", 0.4297635605), ("rain", "yes", 0.7079276773)]
)
def test_wet_grass_is_explained_as_in_the_tutorial(variable, state, p):
    net = joint.of(jn.examples.load("sprinkler"))
    found = joint.query(net, variable, {"wet_grass": "yes"})[state]
    np.testing.assert_allclose(found, p, rtol=1e-9)


def test_two_calls_make_a_burglary_as_likely_as_published():
    net = joint.of(jn.examples.load("burglary"))
    found = joint.query(net, "Burglary", {"JohnCalls": "True", "MaryCalls": "True"})["True"]
    np.testing.assert_allclose(found, 0.28417183536439294, rtol=1e-12)


@pytest.mark.parametrize(
    ("target", "state", "given", "p"),
    [
        ("Letter", "l1", {}, 0.502336),
        ("Letter", "l1", {"Intelligence": "i0"}, 0.3886),
        ("Letter", "l1", {"Intelligence": "i0", "Difficulty": "d0"}, 0.513),
        ("Intelligence", "i1", {"Grade": "g3"}, 0.078947),
        ("Difficulty", "d1", {"Grade": "g3"}, 0.629291),
        ("Intelligence", "i1", {"Grade": "g3", "SAT": "s1"}, 0.578313),
    ],
)
def test_the_student_reasons_as_in_the_book(target, state, given, p):
    net = joint.of(jn.examples.load("student"))
    np.testing.assert_allclose(joint.query(net, target, given)[state], p, atol=5e-7)


@pytest.mark.parametrize("name", ["alarm", "sachs", "survey"])
def test_larger_networks_are_those_that_pgmpy_ships(name):
    import pgmpy

    path = Path(pgmpy.__file__).parent / "utils" / "example_models" / f"{name}.bif.gz"
    shipped = jn.load(path)
    assert jn.examples.load(name).equals(shipped)


def test_cancer_has_its_published_prior_probability():
    net = joint.of(jn.examples.load("cancer"))
    np.testing.assert_allclose(joint.query(net, "Cancer")["True"], 0.01163, rtol=1e-12)


def test_every_example_is_listed_loads_and_names_its_source():
    assert set(PUBLISHED) <= set(jn.examples.list())
    for name in jn.examples.list():
        net = jn.examples.load(name)
        assert net.network_.properties["source"]
        assert net.network_.properties["title"]
        assert not hasattr(net, "free_energy_")


@pytest.mark.parametrize("name", ["alarms", "", "../asia", "Asia", 3])
def test_an_example_that_does_not_exist_is_refused_with_the_list(name):
    with pytest.raises(
        jn.JensenError, match=r"there is no example .*: choose one of alarm, asia, .*"
    ):
        jn.examples.load(name)
