"""The options of `jensen learn` that say which model is learned, and what it hides."""

from __future__ import annotations

from typing import Any

from jensen.cli import options
from jensen.cli.command import HIDDEN_STATES, PARAMETERS, SAMPLING, Option
from jensen.cli.inputs import FACTORS
from jensen.models.emissions.registry import EMISSIONS, USUAL
from jensen.q_graph.method_choices import HAVE
from jensen.support.text import either

NETWORK: dict[str, tuple[str, ...]] = {"model": ("network",)}
"""Belongs to Bayesian networks alone."""

GRAPHS: dict[str, tuple[str, ...]] = {"model": ("network", "markov")}
"""Belongs to what has a graph."""

KINDS = ("categorical", "continuous", "count")
"""Kinds of columns, in the order in which the help names what states make of them."""

WHOLE: dict[str, Any] = {"kind": int, "metavar": "N"}

STATE_OPTIONS = (
    Option(
        "model",
        "What is learned: a network, or hidden states (which need --states K): mixture, a Gaussian "
        "mixture of columns of numbers; latent-class, latent classes of columns of any kind; "
        "trees, a mixture of trees over columns of labels; hmm, a hidden Markov model. Or markov, "
        "a Markov network: potentials of an undirected graph; "
        "rbm, a restricted Boltzmann machine of bits (--hidden-units K). Or hidden "
        "factors of numbers (--factors K): factors, a factor analysis; binary-factors, parts "
        "there or not; factor-mixture, clusters with factors. Or lds (--states K), hidden numbers "
        "that move linearly.",
        HIDDEN_STATES,
        values=(
            "network",
            "markov",
            "rbm",
            "mixture",
            "latent-class",
            "trees",
            "hmm",
            "lds",
            *FACTORS,
        ),
        default="network",
    ),
    options.STATES.but(
        help="The number of components, classes or states; auto: that with the best bound of the "
        "log evidence. Or COLUMN=A,B: all states of a column in their order; repeatable.",
        group=HIDDEN_STATES,
        metavar="K",
    ),
    Option(
        "hidden",
        "A variable that has no column, and its number of states or, as NAME=A,B,C, their names; "
        "repeatable. It is a node of --graph, or is added where the graph is learned.",
        HIDDEN_STATES,
        many=True,
        metavar="NAME=N",
        belongs={**GRAPHS, "structure": HAVE["hidden"]},
    ),
    Option(
        "interactions",
        "What interacts in a Markov network: pairwise, the two ends of every edge; cliques, all "
        "sets within a clique (default pairwise).",
        PARAMETERS,
        values=("pairwise", "cliques"),
        belongs={"model": ("markov",)},
    ),
    Option(
        "hidden_units",
        "The number of hidden units of a restricted Boltzmann machine (default 16).",
        HIDDEN_STATES,
        kind=int,
        metavar="K",
        belongs={"model": ("rbm",)},
    ),
    Option(
        "n_steps",
        "Sweeps of the chains of cd and pcd between updates (default 1).",
        SAMPLING,
        **WHOLE,
        belongs={"model": ("markov", "rbm")},
    ),
    Option(
        "inference",
        "What stands for log Z of a Markov network too large for a tree, rows being complete: trw "
        "(tree-reweighted: a lower bound of the likelihood) or loopy (an estimate); default exact.",
        PARAMETERS,
        values=("exact", "trw", "loopy"),
        belongs={"model": ("markov",)},
    ),
    Option(
        "factors",
        "The number of hidden factors; surplus ones die under --method vbem or mean-field.",
        HIDDEN_STATES,
        kind=int,
        metavar="K",
        belongs={"model": FACTORS},
    ),
    Option(
        "noise",
        "The noise of columns: diagonal (default), isotropic (one for all), or, of an lds, full.",
        HIDDEN_STATES,
        metavar="KIND",
        suggested=("diagonal", "isotropic", "full"),
        belongs={"model": ("factors", "lds")},
    ),
    options.INPUTS,
    Option(
        "covariance",
        "The covariances of Gaussians: full, diagonal, spherical or tied (default full).",
        HIDDEN_STATES,
        metavar="KIND",
        suggested=("full", "diagonal", "spherical", "tied"),
        belongs={"model": ("mixture", "hmm")},
    ),
    Option(
        "shared_structure",
        "All components have the same tree, each with tables of its own.",
        HIDDEN_STATES,
        kind=bool,
        default=False,
        belongs={"model": ("trees",)},
    ),
    Option(
        "validation",
        "Other rows of the same columns, a CSV, TSV or Parquet file: learning ends when they are "
        "predicted no better, and they choose among the starts.",
        HIDDEN_STATES,
        metavar="FILE",
        belongs={"model": ("trees",)},
    ),
    Option(
        "emission",
        f"The distribution of a row given the state of an hmm: {either(EMISSIONS)} (default by the "
        f"kinds of the columns: {', '.join(USUAL[kind].makes for kind in KINDS)}).",
        HIDDEN_STATES,
        metavar="KIND",
        suggested=tuple(EMISSIONS),
        belongs={"model": ("hmm",)},
    ),
    Option(
        "end",
        "Sequences of an hmm end by themselves, with a probability that is learned.",
        HIDDEN_STATES,
        kind=bool,
        default=False,
        belongs={"model": ("hmm",)},
    ),
)
