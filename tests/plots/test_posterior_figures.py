import numpy as np
import pytest
from naive.posteriors import dags_of, run_of, sampled

from jensen.q_graph.posterior import SampledPosterior

pytest.importorskip("matplotlib.figure")

DAGS = dags_of(("A", "B", "C"))
P = np.random.default_rng(0).dirichlet(np.full(25, 0.3))


def posterior():
    return SampledPosterior(run_of(sampled(DAGS, P, (3, 50), 0)))


def test_every_chain_has_its_trace():
    post = posterior()
    ax = post.plot_trace()
    for line, chain in zip(ax.lines, post.samples.states, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), chain)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("sample", "log score")
    assert ax.get_title() == f"R-hat {post.convergence.r_hat:.3f}"


def test_chains_are_drawn_over_all_of_them():
    post = posterior()
    ax = post.plot_agreement()
    diagonal, *chains = ax.lines
    np.testing.assert_array_equal(diagonal.get_ydata(), [0.0, 1.0])
    assert [line.get_label() for line in chains] == ["chain 1", "chain 2", "chain 3"]
    edges = ~np.eye(3, dtype=bool)
    for line, matrix in zip(chains, post.convergence.agreement.by_chain, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), post.edge_matrix[edges])
        np.testing.assert_array_equal(line.get_ydata(), matrix[edges])
    assert ax.get_title().startswith("largest difference 0.")


def test_figures_go_where_they_are_told():
    post = posterior()
    ax = post.plot_trace()
    assert post.plot_agreement(ax) is ax


@pytest.mark.parametrize(("threshold", "marks"), [(0.0, {"—"}), (0.2, {"→", "—"}), (0.4, {"→"})])
def test_edges_are_as_dark_as_they_are_probable(threshold, marks):
    """A line without an arrow stands for both directions."""
    post = posterior()
    svg, found = post.to_svg(threshold), set()
    for a, b in post.consensus(threshold).edges:
        p, back = float(post.edge_probability(a, b)), float(post.edge_probability(b, a))
        (first, second), mark = ((a, b), "→")
        if back > threshold:
            (first, second), mark, p = sorted((a, b)), "—", p + back
        found.add(mark)
        assert f"{first} {mark} {second}: {p:.3g}</title>" in svg
        assert f'opacity="{0.3 + 0.7 * p:.2f}"' in svg
    assert found == marks


def test_notebooks_draw_and_list_what_the_command_line_does():
    """One threshold for the picture, the list, and `jensen posterior`."""
    from jensen.cli.command import find_commands
    from jensen.support.text import LIKELY

    (default,) = {
        option.default
        for command in find_commands().values()
        for option in command.options
        if option.name == "threshold"
    }
    post = posterior()
    assert default == LIKELY
    assert post.to_svg() == post.to_svg(LIKELY)
    assert post.to_svg() in post._repr_html_()
    listed = [line for line in repr(post).splitlines() if line[:1] in "ABC"]
    assert len(listed) == int((post.edge_matrix > LIKELY).sum())
