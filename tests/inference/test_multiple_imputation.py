"""Completed tables whose parameters and cells are drawn: by closed forms of their spread."""

import numpy as np
import pytest

import jensen as jn
from jensen.cli import main

SEEN = {"yes": 6, "no": 2}
LOST = 20
ROWS = {"a": ["yes"] * 6 + ["no"] * 2 + [None] * LOST}
CHAIN = {"method": "gibbs", "n_samples": 1500, "burn_in": 20, "n_chains": 2}


@pytest.mark.parametrize("choices", [{"method": "vbem"}, CHAIN])
def test_what_is_filled_in_is_beta_binomial(choices):
    """Of 20 lost cells: mean n p, variance n p (1 - p) (s + n) / (s + 1), s = 8 rows and α = 2."""
    net = jn.BayesianNetwork(jn.DAG((), ["a"]), prior=1.0, random_state=0, **choices).fit(ROWS)
    found = net.impute(ROWS, "draw", n=1500, random_state=1)
    filled = np.array([sum(x == "yes" for x in one["a"][8:]) for one in found])
    p, s = 7 / 10, 10
    variance = LOST * p * (1 - p) * (s + LOST) / (s + 1)
    assert filled.mean() == pytest.approx(LOST * p, abs=5 * np.sqrt(variance / 1500))
    assert filled.var() == pytest.approx(variance, rel=0.2)  # 5 standard errors
    assert variance > 2 * LOST * p * (1 - p)  # of one point estimate it would be far less
    assert all(one["a"][:8].tolist() == ROWS["a"][:8] for one in found[:20])


def test_numbers_and_both_kinds():
    rng = np.random.default_rng(0)
    x = rng.normal(size=12)
    table = {"x": x, "y": np.where(np.arange(12) < 8, 2.0 * x + rng.normal(size=12), np.nan)}
    net = jn.BayesianNetwork("x -> y", method="vbem").fit(table)
    found = np.array([one["y"] for one in net.impute(table, "draw", n=600, random_state=0)])
    mean, sd = net.posterior("y").mean, net.regression("y").standard_deviation
    np.testing.assert_allclose(found[:, :8], np.broadcast_to(table["y"][:8], (600, 8)))
    expected = mean[0] + mean[1] * x[8:]
    np.testing.assert_allclose(found[:, 8:].mean(0), expected, atol=6 * sd / np.sqrt(600) * 2)
    assert (found[:, 8:].std(0) > sd).all()  # the line is not known either
    kind = np.where(np.arange(12) % 2, "u", "v").astype(object)
    kind[3] = None
    both = {"kind": kind.tolist(), **table}
    for method in ("vbem", "gibbs"):
        chain = {"n_samples": 40, "burn_in": 40, "n_chains": 1} if method == "gibbs" else {}
        net = jn.BayesianNetwork(
            "kind -> y; x -> y", method=method, prior="bdeu-bge", random_state=0, **chain
        )
        found = net.fit(both).impute(both, "draw", n=5, random_state=0)
        assert len({one["y"][9] for one in found}) == 5
        assert all(np.isfinite(one["y"]).all() and None not in list(one["kind"]) for one in found)


def test_the_same_seed_gives_the_same_tables():
    net = jn.BayesianNetwork(jn.DAG((), ["a"]), prior=1.0).fit(ROWS)
    one, two = (net.impute(ROWS, "draw", n=3, random_state=5) for _ in range(2))
    assert [x["a"].tolist() for x in one] == [x["a"].tolist() for x in two]


def test_refusals():
    point = jn.BayesianNetwork(jn.DAG((), ["a"])).fit(ROWS)
    with pytest.raises(jn.JensenError, match=r"learn it with method='vbem' or 'gibbs', or leave"):
        point.impute(ROWS, "draw", n=10)
    with pytest.raises(jn.JensenError, match=r"^n=10 completed tables would all be the same with"):
        point.impute(ROWS, n=10)
    with pytest.raises(jn.JensenError, match=r"^n must be a whole number, 1 or more, not 0$"):
        point.impute(ROWS, "draw", n=0)
    chain = {"method": "gibbs", "n_samples": 5, "burn_in": 5, "n_chains": 1}
    few = jn.BayesianNetwork(jn.DAG((), ["a"]), prior=1.0, random_state=0, **chain)
    with pytest.warns(jn.EstimateWarning, match="the chains disagree"):
        few.fit({"a": ["x", "y"]})
    with pytest.raises(jn.JensenError, match=r"^this network has 5 samples of its parameters, and"):
        few.impute({"a": ["x", None]}, "draw", n=6)


def test_the_command_line_writes_them_one_below_the_other(tmp_path):
    net = jn.BayesianNetwork(jn.DAG((), ["a"]), prior=1.0).fit(ROWS)
    net.save(tmp_path / "net.json")
    jn.Table(ROWS).write(tmp_path / "rows.csv")
    words = ["impute", tmp_path / "net.json", tmp_path / "rows.csv", "--method", "draw"]
    words += ["--seed", "0", "--draws", "3", "-o", tmp_path / "three.csv"]
    assert main([*map(str, words)]) == 0
    found = jn.read_table(tmp_path / "three.csv")
    assert found.shape == (84, 2)
    assert not found.n_missing()
    assert found["draw"].tolist() == ["1"] * 28 + ["2"] * 28 + ["3"] * 28
