"""`jensen posterior`: how probable every edge is, given the data."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jensen.cli import inputs, options, outputs
from jensen.cli.command import OUTPUT, SAMPLING, STRUCTURE, Command, Given, Option
from jensen.cli.describe_posterior import show, summary
from jensen.cli.learn_options import OPTIONS as LEARN_OPTIONS
from jensen.cli.learn_refusals import Retry, read_kinds, refuse_empty, refuse_missing
from jensen.cli.structure import (
    check_scaled,
    check_score,
    constraints,
    read_graph_prior,
    read_hidden,
    read_names,
    row_choices,
)
from jensen.exceptions import JensenError
from jensen.scores.registry import DEFAULTS, SAMPLE_SIZED
from jensen.support.text import LIKELY, either, plural

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.q_graph.posterior import StructurePosterior


def run(given: Given) -> None:
    """Tell how probable every edge is, given the data: not the best graph, but all graphs.

    Each graph counts as much as the data support it. Probabilities from chains have a Monte-Carlo
    error; several chains from random starts show whether they can be trusted. Where values are
    missing, chains draw graphs, parameters and missing values together.
    """
    from jensen.q_graph.posterior.structure_posterior import structure_posterior

    inputs.set_threads(given.threads)
    given.refuse_two_inputs("data", "prior_network")
    _check_files(given)
    given.refuse_together(
        ("-o -", given.output == "-"), ("--svg -", given.svg == "-"), ("--json", given.as_json)
    )
    given.check()
    check_score(given)
    candidates = _read_candidates(given.candidates)
    allowed, prior = constraints(given), read_graph_prior(given.prior)
    hidden = read_hidden(given.hidden)
    rows = _read(given)
    post = structure_posterior(
        rows,
        given.method,
        **_scoring(given, rows),
        prior=prior,
        **allowed,
        known_order=None if given.known_order is None else read_names(given.known_order),
        candidates=candidates,
        hidden=hidden,
        **given.chosen(*CHAINS),
        random_state=given.seed,
        progress=sys.stderr.isatty() if given.progress is None else given.progress,
    )
    _write(given, post)
    if post.interrupted:
        outputs.exit_interrupted()


def _check_files(given: Given) -> None:
    """Refuse files that cannot be written, before anything is read."""
    from jensen import io

    if given.output not in (None, "-"):
        io.check_path(given.output, holds="posterior over graphs")
    given.check_files()


def _read_candidates(texts: list[str]) -> int | dict[str, list[str]] | None:
    """One number, or the candidates of some variables."""
    if not texts:
        return None
    if len(texts) == 1 and texts[0].isdecimal():
        return int(texts[0])
    found: dict[str, list[str]] = {}
    for text in texts:
        child, equals, parents = text.partition("=")
        if not equals or child in found:
            raise JensenError(
                f"--candidates {text}: write one number, or once for a variable its candidates: "
                f"--candidates A=B,C"
            )
        found[child] = [name.strip() for name in parents.split(",") if name.strip()]
    return found


# --- the data ---


def _read(given: Given) -> Table:
    """The rows by which graphs are compared; others are refused with commands that work."""
    from jensen.scores.interventions import split_interventions

    table = inputs.choose_columns(
        inputs.read_table(given, given.states), given.column, given.without, given.interventions
    )
    if table.weights is not None:
        table = table.take(table.weights > 0.0)
    table = inputs.without_row_names(table, given)
    names = [name for name in table.names if name != given.interventions]
    if len(names) < 2:
        raise JensenError(f"an edge joins two columns, and here is {plural(len(names), 'column')}")
    split_interventions(table, given.interventions)  # refused before gaps are looked for
    retry = Retry(given)
    refuse_empty(table, names, retry)
    table = read_kinds(table, names)
    rows = table.complete_rows(names) if given.complete_rows else table
    needs_values = given.method in ("exact", "order") or given.known_order is not None
    has_gaps = needs_values and bool(rows.n_missing(names)) and not given.available_case
    if has_gaps or (table.n_rows and not rows.n_rows):
        refuse_missing(table, names, retry)
    _refuse_constant(rows, names)
    return rows


def _refuse_constant(rows: Table, names: Sequence[str]) -> None:
    """Refuse rows in which nothing varies; of single columns the library warns."""

    def varies(name: str) -> bool:
        column = rows.column(name)
        known = column.data[~column.missing()]
        return bool(len(known) and known.min() < known.max())

    if not any(map(varies, names)):
        raise JensenError(
            f"no column varies in {plural(rows.n_rows, 'row')}, so nothing is known of edges: give "
            f"more rows"
        )


def _scoring(given: Given, rows: Table) -> dict[str, Any]:
    """The score and its choices, as the library takes them."""
    from jensen.scores.registry import kind_of_columns

    names = [name for name in rows.names if name != given.interventions]
    columns = kind_of_columns([rows.variable(name) for name in names])
    score = given.score or DEFAULTS[columns]
    if given.equivalent_sample_size is not None and score not in SAMPLE_SIZED:
        raise JensenError(
            f"--equivalent-sample-size belongs to --score {either(SAMPLE_SIZED)}, not to {score}"
        )
    found: dict[str, Any] = {"score": score, **given.chosen("equivalent_sample_size")}
    if given.scale is not None:
        check_scaled(score)
        numbers = [name for name in names if rows.variable(name).kind != "categorical"]
        found["scale"] = inputs.read_scale(given.scale, numbers)
    return found | row_choices(given, columns != "categorical")


# --- what was found ---


def _write(given: Given, post: StructurePosterior) -> None:
    from jensen import io

    output, svg = given.output, given.svg
    if output == "-":
        outputs.print_bytes(io.to_bytes(post))
    elif output is not None:
        post.save(output)
    if svg is not None:
        outputs.write_text(post.to_svg(given.threshold), svg)
    if given.as_json:
        outputs.print_json(summary(post, given.threshold, output, svg))
    elif "-" not in (output, svg):
        show(post, given.threshold)
        kept = "Nothing was written: -o post.json keeps the posterior."
        print(kept if output is None else f"written to {output}")
        if svg is not None:
            print(f"drawn in {svg}")


# --- the options ---

CHAINS = ("outside", "n_samples", "n_chains", "burn_in", "thin", "temperatures", "checkpoint")
AUGMENTED: dict[str, tuple[str, ...]] = {"method": ("partition", "structure")}
SAMPLED: dict[str, tuple[str, ...]] = {"method": ("partition", "order", "structure")}


def _of_learn(name: str) -> Option:
    """An option that `jensen learn` has too."""
    return next(option for option in LEARN_OPTIONS if option.name == name).but(belongs={})


def _of_chains(name: str, text: str, at_least: int, **more: Any) -> Option:
    return Option(
        name, text, SAMPLING, kind=int, metavar="N", at_least=at_least, belongs=SAMPLED, **more
    )


COMMAND = Command(
    name="posterior",
    run=run,
    group="Learn",
    options=(
        options.TABLE,
        options.COLUMN.but(help="A column of the graphs; repeatable (default: all columns)."),
        options.WITHOUT,
        *options.READING,
        options.CATEGORICAL,
        options.CONTINUOUS,
        options.COUNTS,
        options.STATES,
        options.WEIGHTS,
        options.COMPLETE_ROWS,
        options.DISCRETIZE.but(belongs={}),
        _of_learn("interventions"),
        _of_learn("hidden").but(
            help="A variable of labels that has no column, and its number of states or, as "
            "NAME=A,B,C, their names; repeatable. Chains draw it as they draw missing values.",
            group=STRUCTURE,
            belongs=AUGMENTED,
        ),
        Option(
            "method",
            "partition: chains over layers of graphs; order: chains over orders (see --prior); "
            "structure: chains over graphs, edge by edge; exact: the sum over all graphs, for at "
            "most about 16 variables (20 with --prior order), or any number with --known-order "
            "(default partition; exact with --known-order).",
            STRUCTURE,
            values=("partition", "order", "structure", "exact"),
        ),
        options.SCORE,
        Option(
            "prior",
            "The prior over graphs: uniform; fair (every number of parents is equally probable); "
            "or edges with their probabilities, as in 'A -> B=0.9', repeatable. order, alone or "
            "beside these: each graph counts once for every order that it allows (default uniform; "
            "order for --method order).",
            STRUCTURE,
            many=True,
            flags=("--prior", "--graph-prior"),
            metavar="PRIOR",
            suggested=("uniform", "fair", "order"),
        ),
        *map(_of_learn, ("max_parents", "required", "forbidden", "tier")),
        Option(
            "known_order",
            "All columns from first to last, if it is known that no edge leads back: the posterior "
            "is then a closed form (beyond some 20 columns give --max-parents).",
            STRUCTURE,
            metavar="A,B,C",
        ),
        Option(
            "candidates",
            "The number of candidate parents of a variable, of which all subsets are weighed; or "
            "A=B,C: those of A, repeatable (default: all up to 14 variables, else 12).",
            STRUCTURE,
            many=True,
            metavar="N",
            belongs=SAMPLED,
        ),
        _of_chains(
            "outside",
            "The number of parents outside the candidates that stay possible (default 2; 1 beyond "
            "150 variables).",
            0,
            at_most=2,
        ).but(group=STRUCTURE),
        options.PRIOR_NETWORK,
        options.AVAILABLE_CASE,
        options.SAMPLE_SIZE,
        options.SCALE,
        _of_chains("n_samples", "The number of samples of each chain (default 1000).", 1).but(
            flags=("--samples", "--n-samples")
        ),
        _of_chains("n_chains", "The number of chains (default 4).", 1).but(
            flags=("--chains", "--n-chains")
        ),
        _of_chains(
            "burn_in", "Proposals before the first sample (default: half as many as follow).", 0
        ),
        _of_chains(
            "thin",
            "Proposals from one sample to the next (default 400; 10100 for structure).",
            1,
        ),
        _of_chains(
            "temperatures",
            "Copies of each chain, from cold to hot, that exchange places (default 1).",
            1,
        ),
        options.SEED,
        Option(
            "output",
            "The file for the posterior (.json); - prints it.",
            OUTPUT,
            flags=("-o", "--output"),
            metavar="FILE",
        ),
        options.SVG.but(
            help="Draw the edges, each as dark as it is probable, into this file; - prints it."
        ),
        Option(
            "threshold",
            "Edges more probable than this are listed, and drawn by --svg.",
            OUTPUT,
            kind=float,
            metavar="P",
            default=LIKELY,
            at_least=0.0,
            at_most=1.0,
        ),
        options.JSON,
        options.CHECKPOINT.but(belongs=SAMPLED),
        Option(
            "progress",
            "Show how far the run is (default: in a terminal).",
            OUTPUT,
            kind=bool,
            flags=("--progress/--no-progress",),
        ),
        options.THREADS,
    ),
    examples=(
        "jensen posterior patients.csv --method partition --chains 4 -o post.json",
        "jensen posterior patients.csv --method exact --threshold 0.2 --svg edges.svg",
        "jensen posterior rows_with_holes.csv --seed 0 -o post.json",
        "jensen posterior patients.csv --prior fair --tier age,sex --tier smoker,cancer",
        "jensen posterior patients.csv --known-order age,smoker,cancer,xray --max-parents 3",
        "jensen posterior genes.csv --candidates 10 --temperatures 4 --checkpoint run.ckpt",
    ),
)
