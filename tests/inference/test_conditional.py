"""Rows drawn given what is known, against the distribution that they must have."""

import numpy as np
import pytest
from inference import cases
from naive import joint
from scipy import stats

import jensen as jn
from jensen.exceptions import ImpossibleError

P_VALUE = 1e-3
"""Frequencies may differ from their distribution by what happens once in a thousand seeds."""

N = 20_000


@pytest.fixture(autouse=True)
def _usual_threads():
    yield
    jn.set_threads(None)


def p_value(table, variables, expected):
    """Chi-square of the joint frequencies; cells that are expected less than 5 times pooled."""
    shape = [v.n_states for v in variables]
    codes = [table.column(v.name).data.astype(np.int64) for v in variables]
    flat = np.ravel_multi_index(codes, shape)
    counts = np.bincount(flat, minlength=int(np.prod(shape)))
    mean = cases.cells(variables, expected).ravel() * table.n_rows
    assert not counts[mean == 0].any()
    large = mean >= 5
    counts = np.append(counts[large], counts[~large].sum())
    mean = np.append(mean[large], mean[~large].sum())
    keep = mean > 0
    if keep.sum() < 2:
        return 1.0
    return stats.chisquare(counts[keep], mean[keep]).pvalue


@pytest.mark.parametrize("kind", ["positive", "with zeros", "deterministic", "mixed"])
@pytest.mark.parametrize("seed", [0, 1])
def test_rows_have_the_joint_distribution_given_what_is_known(seed, kind):
    net = cases.random_net(seed, kind, configurations=300)
    twin, rng = joint.of(net), np.random.default_rng(seed)
    asked = 0
    while asked < 3:
        names = rng.permutation(list(net.states)).tolist()
        given = {x: str(rng.choice(net.states[x])) for x in names[:1]}
        given[names[1]] = dict(zip(net.states[names[1]], rng.random(9).tolist(), strict=False))
        do = {x: str(rng.choice(net.states[x])) for x in names[2 : 2 + asked % 2]}
        if joint.evidence(twin, given, do) == 0:
            continue
        asked += 1
        table = net.sample(N, given=given, do=do, random_state=asked)
        expected = joint.posterior(twin, list(net.states), given, do)
        assert p_value(table, net.variables, expected) > P_VALUE
        for x, s in {names[0]: given[names[0]], **do}.items():
            assert set(table.column(x).data) == {net.states[x].index(s)}


def test_rows_of_a_tree_of_clusters():
    """Alarm is no single table: posteriors of all variables, each by chi-square."""
    net = jn.examples.load("alarm")
    given = {"HRBP": "HIGH", "BP": "LOW"}
    table = net.sample(N, given=given, do={"INTUBATION": "ESOPHAGEAL"}, random_state=0)
    marginals = net.marginals(given, {"INTUBATION": "ESOPHAGEAL"})
    for x, found in marginals.items():
        expected = {(state,): p for state, p in found.items()}
        assert p_value(table, found.variables, expected) > P_VALUE / len(marginals), x


def test_known_columns_are_constant_and_all_variables_are_there():
    net = jn.examples.load("asia")
    table = net.sample(50, given={"xray": "yes"}, do={"smoke": "no"}, random_state=0)
    assert table.variables == net.variables
    frame = table.to_pandas()
    assert set(frame["xray"]) == {"yes"}
    assert set(frame["smoke"]) == {"no"}
    assert net.log_likelihood(table).min() > -np.inf


def test_the_same_seed_gives_the_same_rows_on_any_number_of_threads():
    net, drawn = jn.examples.load("asia"), []
    for threads in (1, 2):
        jn.set_threads(threads)
        drawn.append(net.sample(9_000, given={"dysp": "yes"}, random_state=7))
    for x in net.states:
        np.testing.assert_array_equal(*(table.column(x).data for table in drawn))
    other = net.sample(9_000, given={"dysp": "yes"}, random_state=8)
    assert not np.array_equal(other.column("smoke").data, drawn[0].column("smoke").data)


def test_blocks_of_rows_are_independent():
    """Two streams of 4,096 rows: correlation within 4 standard errors."""
    net = jn.BayesianNetwork.from_tables("a; b", {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    codes = net.sample(2 * 4096, given={"b": 0}, random_state=0).column("a").data.astype(float)
    assert abs(np.corrcoef(*codes.reshape(2, 4096))[0, 1]) < 4 / np.sqrt(4096)


def test_no_rows_and_one_row():
    net = jn.examples.load("asia")
    assert net.sample(0, given={"xray": "yes"}).n_rows == 0
    assert net.sample(0, given={"xray": "yes"}).variables == net.variables
    assert net.sample(1, do={"xray": "yes"}, random_state=0).n_rows == 1


def test_everything_known_is_repeated():
    net = jn.examples.load("sprinkler")
    row = {"cloudy": "no", "rain": "no", "sprinkler": "on", "wet_grass": "yes"}
    frame = net.sample(4, given=row).to_pandas()
    assert frame.to_dict("records") == [row] * 4


def test_impossible_evidence_has_no_rows():
    net = jn.examples.load("sprinkler")
    with pytest.raises(ImpossibleError, match="cannot occur together"):
        net.sample(3, given={"rain": "no", "sprinkler": "off", "wet_grass": "yes"})


def test_more_rows_than_memory_holds_are_refused_before_they_are_drawn():
    message = r"1,000,000,000,000,000 rows would take .* TiB, more than the limit of .*: draw"
    with pytest.raises(jn.JensenError, match=message):
        jn.examples.load("asia").sample(10**15, given={"xray": "yes"})
