"""The options of `jensen learn`, and those that go together."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from jensen.cli.inputs import Reading, read_data
from jensen.exceptions import JensenError
from jensen.models.emissions.registry import EMISSIONS, USUAL
from jensen.scores.registry import DEFAULTS, PRIORS, WITH_JOINT_PRIOR
from jensen.support.text import either

if TYPE_CHECKING:
    from jensen.data import Table


KINDS = ("categorical", "continuous", "count")
"""Of columns, in the order in which the help names what states make of them."""


class ModelKind(StrEnum):
    """What is learned."""

    NETWORK = "network"
    MIXTURE = "mixture"
    LATENT_CLASS = "latent-class"
    HMM = "hmm"


Model = Annotated[
    ModelKind,
    typer.Option(
        "--model",
        help="A network, or hidden states (need --states K): a Gaussian mixture of columns of "
        "numbers, latent classes of columns of any kind, a hidden Markov model.",
    ),
]
Graph = Annotated[
    str | None,
    typer.Option(
        "--graph",
        metavar="GRAPH",
        help="Of a network: 'A -> B <- C; B -> D', '[A][C][B|A:C][D|B]', or a network file; "
        "learned from all columns unless given.",
    ),
]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        metavar="PRIOR",
        help=f"Of the parameters of a network, its graph given or learned: {', '.join(PRIORS)}, or "
        f"the Dirichlet concentration of every cell; {either(WITH_JOINT_PRIOR)} of columns of "
        f"numbers; flat unless given ({either(DEFAULTS.values())} for vbem, me and gibbs). Of "
        "other models: default, or parts with their numbers, as in "
        "concentration=0.01,mean_strength=2 (each part as in Python); flat unless given (default "
        "for vbem, me and gibbs).",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="METHOD",
        help="em (most likely parameters), vbem (their posterior), viterbi and me (the same with "
        "the most probable completion of the rows), stochastic-em and gibbs (with drawn ones); em "
        "without a prior, vbem with one.",
    ),
]
Hidden = Annotated[
    list[str] | None,
    typer.Option(
        "--hidden",
        metavar="NAME=N",
        help="Of a network: a node without a column and its number of states, or NAME=A,B,C; "
        "repeatable.",
    ),
]
States = Annotated[
    list[str] | None,
    typer.Option(
        "--states",
        metavar="K",
        help="How many components, classes or hidden states. COLUMN=A,B instead: all states of a "
        "column in their order, also those that never occur; repeatable.",
    ),
]
Covariance = Annotated[
    str | None,
    typer.Option(
        "--covariance",
        metavar="KIND",
        help="Of Gaussians: full, diagonal, spherical or tied; full unless given.",
    ),
]
Emission = Annotated[
    str | None,
    typer.Option(
        "--emission",
        metavar="KIND",
        help=f"What a state of an hmm makes: {either(EMISSIONS)}; by the kinds of the columns "
        f"unless given ({', '.join(USUAL[kind].makes for kind in KINDS)}).",
    ),
]
End = Annotated[
    bool,
    typer.Option("--end", help="Of an hmm: sequences end by themselves, with a probability."),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="NAME",
        help="Without --graph: a column to learn from, all unless given; repeatable.",
    ),
]
Starts = Annotated[
    int | None,
    typer.Option("--n-init", metavar="N", help="Random starts, the best is kept; 1 unless given."),
]
MaxIter = Annotated[
    int | None,
    typer.Option("--max-iter", metavar="N", help="Sweeps at most; 1000 unless given."),
]
Tol = Annotated[
    float | None,
    typer.Option(
        "--tol", metavar="T", help="The relative gain at which sweeps end; 1e-8 unless given."
    ),
]
Samples = Annotated[
    int | None,
    typer.Option(
        "--n-samples", metavar="N", help="Of each chain of gibbs, stochastic-em; 1000 unless given."
    ),
]
BurnIn = Annotated[
    int | None,
    typer.Option("--burn-in", metavar="N", help="Sweeps before the samples; 1000 unless given."),
]
Thin = Annotated[
    int | None,
    typer.Option("--thin", metavar="N", help="Sweeps from sample to sample; 1 unless given."),
]
Chains = Annotated[
    int | None, typer.Option("--n-chains", metavar="N", help="How many chains; 4 unless given.")
]
Start = Annotated[
    str | None,
    typer.Option(
        "--start", metavar="FILE", help="A file of such a model, whose parameters are the start."
    ),
]
Checkpoint = Annotated[
    str | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Where a run that is killed leaves its state: the same command goes on from there.",
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Where to write the model; - prints it."),
]


class Loop(NamedTuple):
    """How to learn, whatever is learned; None leaves a choice to the library."""

    method: str | None
    n_init: int | None
    max_iter: int | None
    tol: float | None
    n_samples: int | None
    burn_in: int | None
    thin: int | None
    n_chains: int | None
    random_state: int | None

    def chosen(self) -> dict[str, Any]:
        """What was chosen, as estimators take it."""
        return {name: value for name, value in self._asdict().items() if value is not None}


class Source(NamedTuple):
    """What is read."""

    data: str
    reading: Reading
    categorical: list[str] | None
    weights: str | None
    complete_rows: bool
    continuous: list[str] | None
    counts: list[str] | None

    def read(self, states: list[str] | None) -> Table:
        """The table; what is known of the states of columns is said with it."""
        return read_data(
            self.data,
            self.reading,
            self.categorical,
            self.weights,
            states,
            self.continuous,
            self.counts,
        )


class NetworkChoices(NamedTuple):
    """What was said of a network, whether its graph is given or learned."""

    graph: str | None
    prior: str | None
    equivalent_sample_size: float | None
    scale: str | None
    hidden: list[str] | None
    states: list[str] | None
    start: str | None
    checkpoint: str | None
    output: str | None

    def given(self) -> list[str]:
        """The options that stand on the command line."""
        return spelled(self)

    def check_output(self, holds: str) -> None:
        """Refuse a file that cannot hold such a network, before it is learned."""
        from jensen import io

        if self.output is not None and self.output != "-":
            io.check_path(self.output, holds=holds)

    def refuse_without_graph(self) -> None:
        """Refuse what only a graph gives a meaning."""
        if self.hidden:
            raise JensenError(
                "--hidden belongs to --graph: a graph is learned of columns, and a hidden variable "
                "has none"
            )
        if self.start is not None:
            raise JensenError(
                "--start belongs to --graph: it holds the parameters of a graph that is known; "
                "--start-graph says where a search begins"
            )


def spelled(choices: NamedTuple) -> list[str]:
    """The options that were given, as they stand on the command line."""
    return [
        f"--{name.replace('_', '-')}"
        for name, value in choices._asdict().items()
        if not (value is None or value is False or value == [])
    ]
