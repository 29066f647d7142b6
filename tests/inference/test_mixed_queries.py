"""One question to a mixed network, beside enumeration of labels and dense Gaussian algebra."""

from itertools import product

import numpy as np
import pytest
from naive import mixed_answers as naive

import jensen as jn
from jensen.exceptions import ImpossibleError, JensenError

CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def known_of(rng, net, share=0.5):
    """Random values of some variables: codes for the twin, and as they are asked."""
    codes, asked = {}, {}
    row = net.sample(1, random_state=rng)
    for variable in net.variables:
        if rng.random() < share:
            value = row.column(variable.name).data[0]
            is_label = variable.kind == "categorical"
            codes[variable.name] = int(value) if is_label else float(value)
            asked[variable.name] = variable.states[int(value)] if is_label else float(value)
    return codes, asked


def check_all(net, codes, asked, done=None, asked_do=None, soft=None):
    """Evidence, all marginals, joint labels, joint numbers."""
    network, soft = net.network_, soft or {}
    found = naive.pieces(network, codes, done, soft)
    given = {**asked, **{x: list(p) for x, p in soft.items()}}
    np.testing.assert_allclose(
        net.log_probability(given, asked_do), naive.log_evidence(found), **CLOSE
    )
    marginals = net.marginals(given, asked_do)
    rest = [v for v in net.variables if v.name not in {**codes, **(done or {})}]
    assert list(marginals) == [v.name for v in rest]
    for v in rest:
        one = marginals[v.name]
        alone = net.query(v.name, given, asked_do)
        if v.kind == "categorical":
            wanted = naive.joint_labels(network, found, [v.name])
            np.testing.assert_allclose(one.values, wanted, **CLOSE)
            np.testing.assert_allclose(alone.values, wanted, **CLOSE)
        elif v.kind == "count":
            mean, variance = naive.count_moments(found, v.name)
            for answer in (one, alone):
                np.testing.assert_allclose(
                    [answer.mean, answer.variance], [mean, variance], **CLOSE
                )
                p = [naive.count_probability(found, v.name, x) for x in range(4)]
                np.testing.assert_allclose(answer.density(range(4)), p, **CLOSE)
                np.testing.assert_allclose(answer.cdf(range(4)), np.cumsum(p), **CLOSE)
        else:
            mean, covariance = naive.moments(network, found, [v.name])
            for answer in (one, alone):
                np.testing.assert_allclose(answer.mean, mean[0], **CLOSE)
                np.testing.assert_allclose(answer.variance, covariance[0, 0], **CLOSE)
                at = mean[0] + 0.3
                wanted = naive.density(network, found, v.name, at)
                np.testing.assert_allclose(answer.density(at), wanted, **CLOSE)
    labels = [v.name for v in rest if v.kind == "categorical"][::-1]
    numbers = [v.name for v in rest if v.kind == "continuous"][::-1]
    if labels:
        wanted = naive.joint_labels(network, found, labels)
        np.testing.assert_allclose(net.query(labels, given, asked_do).values, wanted, **CLOSE)
    if numbers:
        mean, covariance = naive.moments(network, found, numbers)
        joint = net.query(numbers, given, asked_do)
        np.testing.assert_allclose(np.atleast_1d(joint.mean), mean, **CLOSE)
        np.testing.assert_allclose(joint.covariance, covariance, **CLOSE)


@pytest.mark.parametrize("seed", range(60))
def test_answers_equal_enumeration(seed):
    rng = np.random.default_rng(seed)
    n_labels, n_numbers = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    net = naive.random_network(rng, n_labels, n_numbers, n_counts=seed % 3)
    for share in (0.0, 0.3, 0.6):
        check_all(net, *known_of(rng, net, share))


@pytest.mark.parametrize("seed", range(25))
def test_interventions_and_likelihoods_equal_enumeration(seed):
    rng = np.random.default_rng(100 + seed)
    net = naive.random_network(rng, n_counts=seed % 3)
    codes, asked = known_of(rng, net)
    done = {x: codes.pop(x) for x in list(codes) if rng.random() < 0.5}
    asked_do = {x: asked.pop(x) for x in done}
    free = [v for v in net.variables if v.kind == "categorical" and v.name not in {**codes, **done}]
    soft = {v.name: rng.uniform(0.0, 3.0, v.n_states) for v in free if rng.random() < 0.6}
    check_all(net, codes, asked, done, asked_do, soft)


def test_every_pattern_of_gaps_in_a_row_with_two_numbers_below_a_label():
    net = jn.BayesianNetwork.from_parameters(
        "a -> b; a -> x; b -> y; x -> y; a -> y",
        tables={"a": [0.3, 0.7], "b": [[0.2, 0.8], [0.6, 0.4]]},
        regressions={
            "x": {"0": {"intercept": -1.0}, "1": {"intercept": 2.0, "variance": 0.5}},
            "y": {
                key: {"intercept": k, "coefficients": {"x": 0.5 * k}, "variance": 1.0 + k}
                for k, key in enumerate(product("01", repeat=2))
            },
        },
    )
    row = {"a": 1, "b": 0, "x": 0.4, "y": -2.0}
    for hidden in product((False, True), repeat=4):
        codes = {x: value for (x, value), h in zip(row.items(), hidden, strict=True) if not h}
        asked = {x: str(value) if x in "ab" else value for x, value in codes.items()}
        check_all(net, codes, asked)


@pytest.mark.parametrize("seed", range(5))
def test_columns_far_from_zero_keep_their_digits(seed):
    near = naive.random_network(np.random.default_rng(seed))
    far = naive.random_network(np.random.default_rng(seed), offset=1e6)
    _, asked = known_of(np.random.default_rng(seed), near)
    moved = {x: v + 1e6 if isinstance(v, float) else v for x, v in asked.items()}
    np.testing.assert_allclose(
        far.log_probability(moved), near.log_probability(asked), rtol=1e-8, atol=1e-8
    )
    there, here = far.marginals(moved), near.marginals(asked)
    for x, one in here.items():
        if hasattr(one, "values") and not callable(one.values):
            np.testing.assert_allclose(there[x].values, one.values, rtol=1e-7)
        else:
            np.testing.assert_allclose(there[x].mean - 1e6, one.mean, atol=1e-8)
            np.testing.assert_allclose(there[x].variance, one.variance, rtol=1e-7)


def waste():
    """Lauritzen's waste incinerator (JASA 1992): numbers are logarithms."""

    def line(intercept, variance, **slopes):
        return {"intercept": intercept, "variance": variance, "coefficients": slopes}

    return jn.BayesianNetwork.from_parameters(
        "F -> E; W -> E; B -> C; W -> D; B -> D; E -> D; D -> L; W -> Min; D -> Mout; Min -> Mout",
        tables={
            "F": {"intact": 0.95, "defect": 0.05},
            "W": {"industrial": 2 / 7, "household": 5 / 7},
            "B": {"stable": 0.85, "unstable": 0.15},
        },
        regressions={
            "E": {
                ("intact", "household"): line(-3.2, 0.00002),
                ("defect", "household"): line(-0.5, 0.0001),
                ("intact", "industrial"): line(-3.9, 0.00002),
                ("defect", "industrial"): line(-0.4, 0.0001),
            },
            "C": {"stable": line(-2.0, 0.1), "unstable": line(-1.0, 0.3)},
            "D": {
                ("stable", "industrial"): line(6.5, 0.03, E=1.0),
                ("stable", "household"): line(6.0, 0.04, E=1.0),
                ("unstable", "industrial"): line(7.5, 0.1, E=1.0),
                ("unstable", "household"): line(7.0, 0.1, E=1.0),
            },
            "L": line(3.0, 0.25, D=-0.5),
            "Min": {"industrial": line(0.5, 0.01), "household": line(-0.5, 0.005)},
            "Mout": line(0.0, 0.002, D=1.0, Min=1.0),
        },
    )


NUMBERS = ("E", "D", "C", "L", "Min", "Mout")


def test_waste_incinerator_before_anything_is_known():
    found = waste().marginals()
    means = [-3.2535714285714286, 3.039285714285714, -1.85, 1.4803571428571431]
    means += [-0.21428571428571433, 2.825]
    spread = [0.7088802754329957, 0.7700059766531906, 0.5074445782546109]
    spread += [0.6310525342793638, 0.4588139100786207, 0.8602983701683311]
    np.testing.assert_allclose([found[x].mean for x in NUMBERS], means, rtol=1e-10)
    np.testing.assert_allclose([found[x].standard_deviation for x in NUMBERS], spread, rtol=1e-10)


def test_waste_incinerator_given_waste_light_and_carbon_dioxide():
    net, given = waste(), {"W": "industrial", "L": 1.1, "C": -0.9}
    assert net.log_probability(given) == pytest.approx(-3.813723886523125, abs=1e-9)
    found = net.marginals(given)
    assert found["D"].mean == pytest.approx(3.6076666099227412, abs=1e-10)
    assert found["D"].standard_deviation == pytest.approx(0.3258510240514745, abs=1e-10)
    assert found["E"].mean == pytest.approx(-3.8983382137132594, abs=1e-10)
    assert found["E"].standard_deviation == pytest.approx(0.07628564528023214, abs=1e-9)
    assert found["Mout"].mean == pytest.approx(4.107666609922741, abs=1e-10)
    assert found["Mout"].standard_deviation == pytest.approx(0.34377156641497003, abs=1e-10)
    assert found["B"]["stable"] == pytest.approx(0.012252759819409225, abs=1e-10)
    assert found["F"]["intact"] == pytest.approx(0.999526272215257, abs=1e-10)


# --- what is most probable, information ---


@pytest.mark.parametrize("seed", range(10))
def test_most_probable_labels_with_numbers_integrated_out(seed):
    rng = np.random.default_rng(200 + seed)
    net = naive.random_network(rng, 3, 2)
    codes, asked = known_of(rng, net, 0.3)
    found = sorted(naive.pieces(net.network_, codes), key=lambda piece: -piece.log_weight)
    evidence = naive.log_evidence(found)
    best = net.most_probable(asked, k=4)
    assert len(best) == min(4, len(found))
    for one, piece in zip(best, found, strict=False):
        assert one.log_probability == pytest.approx(piece.log_weight, abs=1e-10)
        assert one.log_conditional == pytest.approx(piece.log_weight - evidence, abs=1e-10)
        for x, state in one.items():
            if x in piece.states:
                variable = net.variables[net.network_.index(x)]
                assert variable.states.index(state) == piece.states[x]
        means = dict(zip(["x0", "x1"], piece.mean, strict=True))
        for x in means:
            if x not in asked:
                assert one[x] == pytest.approx(means[x], abs=1e-10)
    assert net.most_probable(asked).states == best[0].states


def test_entropy_and_information_of_labels():
    rng = np.random.default_rng(5)
    net = naive.random_network(rng, 3, 2)
    given = {"x0": 0.3, "x1": -1.0}
    found = naive.pieces(net.network_, given)
    p = naive.posterior(found)
    assert net.entropy(given=given) == pytest.approx(float(-(p * np.log(p)).sum()), abs=1e-10)
    joint = naive.joint_labels(net.network_, found, ["l0", "l2"])
    wanted = float(
        (joint * np.log(joint / joint.sum(1, keepdims=True) / joint.sum(0, keepdims=True))).sum()
    )
    assert net.mutual_information("l0", "l2", given) == pytest.approx(wanted, abs=1e-10)
    assert net.entropy("l0", given) == pytest.approx(
        float(-(joint.sum(1) * np.log(joint.sum(1))).sum()), abs=1e-10
    )
    with pytest.raises(JensenError, match=r"entropy of numbers \(x0\).* no closed form"):
        net.entropy("x0")
    with pytest.raises(JensenError, match="mutual information of numbers"):
        net.mutual_information("l0", "x0")


# --- refusals ---


def handmade():
    return jn.BayesianNetwork.from_parameters(
        "a -> b; b -> x; x -> y",
        tables={"a": {"u": 0.5, "v": 0.5}, "b": {"u": {"p": 1.0, "q": 0.0}, "v": [0.5, 0.5]}},
        regressions={
            "x": {"p": {"intercept": 0.0}, "q": {"intercept": 5.0}},
            "y": {"coefficients": {"x": 2.0}},
        },
    )


def test_impossible_evidence_is_explained():
    with pytest.raises(ImpossibleError, match="a=u, b=q cannot occur together"):
        handmade().query("x", given={"a": "u", "b": "q", "y": 1.0})
    assert handmade().log_probability({"a": "u", "b": "q", "y": 1.0}) == -np.inf


def test_labels_and_numbers_are_asked_one_after_the_other():
    with pytest.raises(JensenError, match=r"labels \(a\) and numbers \(x\) .* one after the other"):
        handmade().query(["a", "x"])


def test_a_count_above_zero_is_impossible_at_a_rate_of_zero():
    net = jn.BayesianNetwork.from_parameters(
        "a -> b; a -> c; b -> d",
        tables={"a": [0.5, 0.5], "b": [[0.2, 0.8], [0.6, 0.4]]},
        regressions={
            "c": {"0": {"rate": 0.0}, "1": {"rate": 3.0}},
            "d": {"0": {"rate": 0.0}, "1": {"rate": 0.0}},
        },
    )
    table = jn.Table({"a": ["0", "0", "1", None], "c": [2, 0, 2, 2], "d": [0, 0, 0, 1]})
    found = net.log_likelihood(table, missing_columns="ignore")
    at_two = np.log(0.5) - 3.0 + np.log(4.5)
    np.testing.assert_allclose(found, [-np.inf, np.log(0.5), at_two, -np.inf])
    assert net.log_probability({"a": "0", "c": 2}) == net.log_probability({"d": 1}) == -np.inf
    assert net.query("a", {"c": 2})["1"] == 1.0
    for impossible in ({"a": "0", "c": 2}, {"d": 1}):
        with pytest.raises(ImpossibleError, match="cannot occur"):
            net.query("b", impossible)


def test_a_number_has_a_density_only():
    assert handmade().probability({"b": "q"}) == pytest.approx(0.25)
    with pytest.raises(JensenError, match="'x' has no probability: log_probability"):
        handmade().probability({"x": 1.0})


def test_findings_are_checked():
    net = handmade()
    with pytest.raises(JensenError, match="'x' takes a finite number"):
        net.query("a", given={"x": "many"})
    with pytest.raises(JensenError, match="'a' has no state 'w'"):
        net.query("x", given={"a": "w"})
    with pytest.raises(JensenError, match="must be a dict from variable to state or number"):
        net.query("x", do=[1])
    with pytest.raises(JensenError, match="'x' stands in given and in do"):
        net.query("a", given={"x": 1.0}, do={"x": 2.0})
    with pytest.raises(JensenError, match="'x' is asked for, but stands in given"):
        net.query("x", given={"x": 1.0})
    assert net.query("a", given={"x": "1.5"})["u"] == net.query("a", given={"x": 1.5})["u"]


def test_what_a_variable_has_is_told():
    net = handmade()
    with pytest.raises(JensenError, match=r"'x' is a number: see regression\('x'\)"):
        net.cpt("x")
    with pytest.raises(JensenError, match=r"'a' is a label: see cpt\('a'\)"):
        net.regression("a")
    with pytest.raises(JensenError, match=r"\.interval\(level\) itself"):
        net.query("x", interval=0.9)
    with pytest.raises(JensenError, match="point estimates only"):
        net.query("a", interval=0.9)
    with pytest.raises(JensenError, match="a posterior comes from method='vbem'"):
        net.posterior("x")
    assert net.parameters_count == 1 + 2 + 4 + 3


def test_regressions_by_configuration():
    found = handmade().regression("x")
    assert found["q"].intercept == found[{"b": "q"}].intercept == 5.0
    assert len(found) == 2
    with pytest.raises(JensenError, match="depends on b: give a state of each"):
        found[{"a": "u"}]
    assert handmade().regression("y").coefficients == {"x": 2.0}


def test_a_mixture_that_does_not_fit_is_refused_with_its_size():
    net = naive.random_network(np.random.default_rng(1), 3, 3)
    jn.set_memory_limit(300.0)
    try:
        with pytest.raises(JensenError, match="would take"):
            net.query(["x0", "x1", "x2"])
    finally:
        jn.set_memory_limit(None)


def test_a_mixture_of_too_many_gaussians_has_moments_only(monkeypatch):
    """Mean and variance are those of the mixture; what needs it is refused, with its size."""
    from jensen.inference import mixed_components, mixed_queries, number_mixture

    net = naive.random_network(np.random.default_rng(1), 3, 3)
    inner = net.network_
    asked = [x for x in net.graph.nodes if not inner.is_label(x)][:2]
    label = next(x for x in net.graph.nodes if inner.is_label(x))
    given = {label: dict.fromkeys(net.states[label], 0.5)}
    whole, beliefs = net.query(asked, given), net.marginals(given)
    for module in (mixed_components, mixed_queries, number_mixture):
        monkeypatch.setattr(module, "MOST_COMPONENTS", 0)
    found = net.query(asked, given)
    np.testing.assert_allclose(found.mean, whole.mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance, whole.variance, rtol=1e-10)
    assert "moments only of a mixture of" in repr(found)
    assert found.plain()["kind"] == "moments only"
    with pytest.raises(JensenError, match=r"moments only, mean and variance.*For quantile give"):
        found.quantile(0.5)
    few = net.marginals(given)[asked[0]]
    np.testing.assert_allclose(few.variance, beliefs[asked[0]].variance, rtol=1e-12)
    svg = net.to_svg(beliefs=True)
    assert "±" in svg


def test_pictures_of_beliefs():
    svg = handmade().to_svg(beliefs=True, given={"x": 1.5, "a": "v"})
    assert "x\n1.5" in svg
    assert "±" in svg
    with pytest.raises(JensenError, match=r"is what query\('x'\) gives, or a number"):
        handmade().to_svg(beliefs={"x": {"low": 1.0}})
    with pytest.raises(JensenError, match="gives each of its states"):
        handmade().to_svg(beliefs={"a": 1.0})


def test_the_summary_lists_labels_and_numbers():
    net = handmade()
    text = str(net.summary())
    assert "b         p, q" in text
    assert "x         number" in text
    assert "x  " in repr(net.most_probable({"a": "u"}))
    assert "mixture of 2 Gaussians" in repr(net.marginals())
    with pytest.raises(JensenError, match="no marginal of 'a'"):
        net.marginals({"a": "u"})["a"]
