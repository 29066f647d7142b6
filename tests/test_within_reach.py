"""Small doors that users of dataframes and of other libraries try first."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import jensen as jn

TABLE = jn.Table({"rain": ["no", "yes", None], "drops": [0.5, 2.5, np.nan]})


# --- tables ---


def test_a_table_has_the_words_of_dataframes():
    assert TABLE.shape == (3, 2)
    assert TABLE.columns == TABLE.names == ("rain", "drops")
    assert list(TABLE) == ["rain", "drops"]
    assert TABLE.head(2).shape == TABLE[:2].shape == (2, 2)
    assert TABLE.head().shape == (3, 2)
    assert TABLE.tail(1)["rain"].tolist() == [None]
    assert TABLE[["drops"]].names == ("drops",)
    assert TABLE["rain"].tolist() == ["no", "yes", None]
    np.testing.assert_array_equal(TABLE["drops"], [0.5, 2.5, np.nan])
    assert TABLE[TABLE["drops"] > 1]["rain"].tolist() == ["yes"]
    assert TABLE[[2, 0]]["rain"].tolist() == [None, "no"]
    assert TABLE[::-1]["rain"].tolist() == [None, "yes", "no"]
    assert TABLE[5:].shape == (0, 2)
    assert TABLE[:0].variables == TABLE.variables


def test_what_is_taken_out_changes_nothing_inside():
    taken = TABLE["drops"]
    taken[:] = 7.0
    assert TABLE["drops"][0] == 0.5


@pytest.mark.parametrize(
    ("chosen", "text"),
    [
        ("z", r"^there is no column 'z'; the columns are: rain, drops$"),
        (["z"], r"^there is no column 'z'"),
        (3.5, r"^a table takes the name of a column, a list of names, .*, not 3\.5$"),
        ([True], r"^a mask of 1 entries does not fit 3 rows$"),
        ([0, 3], r"^there is no row 3: the table has 3 rows, from 0$"),
        ([-4], r"^there is no row -4: the table has 3 rows, from 0$"),
    ],
)
def test_what_chooses_nothing_is_refused(chosen, text):
    with pytest.raises(jn.JensenError, match=text):
        TABLE[chosen]


def test_the_name_of_a_series_is_the_name_of_its_column():
    numbers = pd.Series([1.5, 2.5, 3.1, 4.0, 2.2, 7.7] * 4, name="length")
    assert jn.Table(numbers).names == ("length",)
    assert jn.Table(numbers.rename(None)).names == ("x0",)
    whole = jn.HiddenMarkovModel(1).fit(numbers)
    parts = jn.HiddenMarkovModel(1).fit([numbers[:12], numbers[12:]])
    plain = jn.HiddenMarkovModel(1).fit(numbers.to_numpy())
    for model in (whole, parts):
        assert model.feature_names_in_.tolist() == ["length"]
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(whole.means_, plain.means_)


# --- graphs and posteriors ---


def test_all_edges_of_a_partly_directed_graph():
    graph = jn.PDAG("C -> A; A -- B; C <-> D")
    assert graph.edges == (("A", "B"), ("C", "A"), ("C", "D"))
    pattern = jn.CPDAG("A -> C <- B; D -- E")
    assert pattern.edges == (("A", "C"), ("B", "C"), ("D", "E"))
    assert len(pattern.edges) == len(pattern.skeleton().edges)


def test_a_posterior_as_a_dataframe():
    table = jn.examples.load("sprinkler").sample(100, random_state=0)
    post = jn.structure_posterior(table.to_polars(), "exact")
    frame = post.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert not isinstance(post.edges(), pd.DataFrame)
    assert frame["probability"].is_monotonic_decreasing
    first = frame.iloc[0]
    assert first["probability"] == post.edge_probability(first["from"], first["to"])
    assert len(post.to_pandas(0.5)) == (frame["probability"] > 0.5).sum()


def test_exactly_k_graphs():
    table = jn.examples.load("sprinkler").sample(100, random_state=0)
    assert len(jn.k_best(table, k=7)) == 7


# --- answers ---


def test_a_test_of_numbers_tells_the_partial_correlation():
    rng = np.random.default_rng(0)
    z = rng.normal(size=200)
    x, y = z + rng.normal(size=200), z + rng.normal(size=200)
    found = jn.independent({"x": x, "y": y, "z": z}, "x", "y", "z")
    design = np.column_stack([np.ones(200), z])
    left = [v - design @ np.linalg.lstsq(design, v, rcond=None)[0] for v in (x, y)]
    assert found.partial_correlation == pytest.approx(np.corrcoef(*left)[0, 1], rel=1e-9)
    assert f"partial correlation {found.partial_correlation:.4g}" in repr(found)
    plain = jn.independent({"x": x, "y": y}, "x", "y")
    assert plain.partial_correlation == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-9)
    assert f", correlation {plain.partial_correlation:.4g}" in repr(plain)
    labels = jn.independent({"a": ["x", "y"] * 9, "b": ["u", "u", "v"] * 6}, "a", "b")
    assert labels.partial_correlation is None


def test_the_most_probable_numbers():
    net = jn.BayesianNetwork.from_regressions(
        "x -> y; x -> z",
        {
            "x": {"intercept": 1.0, "variance": 4.0},
            "y": {"coefficients": {"x": 2.0}, "variance": 9.0},
            "z": {"coefficients": {"x": -1.0}, "variance": 0.5},
        },
    )
    best = net.most_probable(given={"y": 4.0})
    joint = net.query(["x", "z"], given={"y": 4.0})
    assert dict(best.items()) == pytest.approx(dict(zip("xz", joint.mean, strict=True)))
    density = multivariate_normal(joint.mean, joint.covariance).logpdf(joint.mean)
    assert best.log_conditional == pytest.approx(density, rel=1e-12)
    expected = density + net.log_probability({"y": 4.0})
    assert best.log_probability == pytest.approx(expected, rel=1e-12)
    assert repr(best).startswith("log density ")
    all_known = net.most_probable(given={"x": 1.0, "y": 4.0, "z": 0.0})
    assert (len(all_known), all_known.log_conditional) == (0, 0.0)
    assert len(net.most_probable(do={"x": 2.0}, k=1)) == 1
    with pytest.raises(jn.JensenError, match=r"^numbers have one point of highest density"):
        net.most_probable(k=2)
