"""`jensen posterior`: how probable every edge is, given the data."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from jensen.cli import inputs, options, outputs
from jensen.cli import learn_options as of_learn
from jensen.cli import posterior_options as of_post
from jensen.cli import structure_options as of_graph
from jensen.cli.gaussian_scale import Scale, check_scaled, read_scale
from jensen.cli.graph_prior import read_graph_prior
from jensen.cli.learn_missing import FLAGS, Asked, refuse_empty, refuse_kinds, refuse_missing
from jensen.cli.learn_structure import of_rows
from jensen.cli.posterior_options import Method, read_candidates, refuse_chains
from jensen.cli.posterior_told import THRESHOLD, spell, summary, tell
from jensen.cli.structure_options import StructureChoices
from jensen.exceptions import JensenError
from jensen.scores.registry import DEFAULTS, SAMPLE_SIZED
from jensen.support.text import either, plural

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.q_graph.posterior import StructurePosterior

NAME = "posterior"
EPILOG = "\n".join(
    [
        "\b",  # keeps the lines as they are
        "Example: jensen posterior patients.csv --method partition --chains 4 -o post.json",
        "  jensen posterior patients.csv --method exact --threshold 0.2 --svg edges.svg",
        "  jensen posterior patients.csv --prior fair --tier age,sex --tier smoker,cancer",
        "  jensen posterior genes.csv --candidates 10 --temperatures 4 --checkpoint run.ckpt",
    ]
)
INTERRUPTED = 130


def command(
    context: typer.Context,
    data: options.Data,
    method: of_post.How = Method.PARTITION,
    score: of_graph.Score = None,
    prior: of_post.Prior = None,
    equivalent_sample_size: options.SampleSize = None,
    scale: Scale = None,
    max_parents: of_graph.MaxParents = None,
    candidates: of_post.Candidates = None,
    outside: of_post.Outside = None,
    required: of_graph.Required = None,
    forbidden: of_graph.Forbidden = None,
    tier: of_graph.Tiers = None,
    n_samples: of_post.Samples = None,
    n_chains: of_post.Chains = None,
    burn_in: of_post.BurnIn = None,
    thin: of_post.Thin = None,
    temperatures: of_post.Temperatures = None,
    interventions: of_graph.Interventions = None,
    prior_network: options.PriorNetwork = None,
    available_case: options.AvailableCase = False,
    column: of_post.Column = None,
    without: of_graph.Without = None,
    seed: options.Seed = None,
    checkpoint: of_learn.Checkpoint = None,
    output: of_post.Output = None,
    svg: of_post.Svg = None,
    threshold: of_post.Threshold = THRESHOLD,
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    categorical: options.Categorical = None,
    continuous: options.Continuous = None,
    weights: options.Weights = None,
    states: options.States = None,
    complete_rows: options.CompleteRows = False,
    progress: of_post.Progress = None,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Tell how probable every edge is, given the data: not the best graph, but all graphs.

    Each graph counts as much as the data support it. Probabilities from chains have a Monte-Carlo
    error; several chains from random starts show whether they can be trusted.
    """
    options.set_threads(threads)
    options.refuse_two_inputs(data, prior_network)
    _check_files(output, checkpoint, svg)
    options.refuse_together({"-o -": output == "-", "--svg -": svg == "-", "--json": as_json})
    of_chains: dict[str, Any] = {
        "candidates": read_candidates(candidates), "outside": outside, "n_samples": n_samples,
        "n_chains": n_chains, "burn_in": burn_in, "thin": thin, "temperatures": temperatures,
        "checkpoint": checkpoint,
    }  # fmt: skip
    refuse_chains(method, of_chains)
    given: dict[str, Any] = {
        "score": score, "prior_network": prior_network, "available_case": available_case,
        "max_parents": max_parents, "required": required, "forbidden": forbidden, "tier": tier,
        "interventions": interventions, "column": column, "without": without,
    }  # fmt: skip
    choices = StructureChoices(**{**dict.fromkeys(StructureChoices._fields), **given})
    choices.check()
    constraints, believed = choices.constraints(), read_graph_prior(prior)
    table = inputs.choose_columns(
        inputs.read_data(
            data, inputs.Reading(missing, separator, decimal), categorical, weights, states,
            continuous,
        ),
        column, without, interventions,
    )  # fmt: skip
    rows = _usable(table, choices, complete_rows, context.obj or ())
    scoring = _scoring(rows, choices, equivalent_sample_size, scale)
    with _in_words():
        from jensen.q_graph.posterior.structure_posterior import structure_posterior

        post = structure_posterior(
            rows, method.value, **scoring, prior=believed, **constraints, **of_chains,
            random_state=seed, progress=sys.stderr.isatty() if progress is None else progress,
        )  # fmt: skip
    _write(post, output, svg, threshold, as_json)
    if post.interrupted:
        raise typer.Exit(INTERRUPTED)


def _check_files(output: str | None, checkpoint: str | None, svg: str | None) -> None:
    """Refuse files that cannot be written, before anything is read."""
    from jensen import io
    from jensen.support.atomic import check_writable

    if output is not None and output != "-":
        io.check_path(output, holds="posterior over graphs")
    files = {"-o": output, "--checkpoint": checkpoint, "--svg": svg}
    named = {option: path for option, path in files.items() if path not in (None, "-")}
    if svg is not None:
        outputs.check_svg_path(svg)
    for option, path in named.items():
        check_writable(str(path))
        for other in (name for name, file in named.items() if file == path and name != option):
            raise JensenError(f"{option} and {other} both name {path}: name two files")
    if checkpoint == "-":
        raise JensenError("--checkpoint - : a run resumes from a file, so name one")


# --- the data ---


class _AskedOfGraphs(Asked):
    """A command that learns no parameters, so none of them needs a prior."""

    def but(self, *more: str, without: Sequence[str] = ()) -> str:
        """The command with other options; --prior is that of graphs, and stays."""
        if "--prior" in more:
            more, without = more[: more.index("--prior")], FLAGS
        return super().but(*more, without=without)


def _usable(
    table: Table, choices: StructureChoices, complete_rows: bool, words: Sequence[str]
) -> Table:
    """The rows that graphs are weighed by; refused with commands that work."""
    from jensen.scores.interventions import split_interventions

    if table.weights is not None:
        table = table.take(table.weights > 0.0)
    names = [name for name in table.names if name != choices.interventions]
    if len(names) < 2:
        raise JensenError(f"an edge joins two columns, and here is {plural(len(names), 'column')}")
    with _in_words():
        split_interventions(table, choices.interventions)  # refused before gaps are looked for
    asked = _AskedOfGraphs(words, choices, None)
    refuse_empty(table, names, asked)
    refuse_kinds(table, names, asked)
    rows = table.complete_rows(names) if complete_rows else table
    has_gaps = bool(rows.n_missing(names)) and not choices.available_case
    if has_gaps or (table.n_rows and not rows.n_rows):
        refuse_missing(table, names, asked)
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


def _scoring(
    rows: Table, choices: StructureChoices, sample_size: float | None, scale: str | None
) -> dict[str, Any]:
    """The score, as the library takes it."""
    names = [name for name in rows.names if name != choices.interventions]
    is_numbers = {rows.variable(name).kind for name in names} == {"continuous"}
    score = choices.score or DEFAULTS["continuous" if is_numbers else "categorical"]
    if sample_size is not None and score not in SAMPLE_SIZED:
        raise JensenError(
            f"--equivalent-sample-size belongs to --score {either(SAMPLE_SIZED)}, not to {score}"
        )
    size: dict[str, Any] = {"score": score, "equivalent_sample_size": sample_size}
    if scale is not None:
        check_scaled(score)
        size["scale"] = read_scale(scale, names)
    return size | of_rows(choices, is_numbers)


# --- what was found ---


def _write(
    post: StructurePosterior, output: str | None, svg: str | None, threshold: float, as_json: bool
) -> None:
    from jensen import io

    if output == "-":
        outputs.print_bytes(io.to_bytes(post))
    elif output is not None:
        post.save(output)
    if svg is not None:
        outputs.write_text(post.to_svg(threshold), svg)
    if as_json:
        outputs.print_json(summary(post, threshold, output, svg))
    elif "-" not in (output, svg):
        tell(post, threshold)
        kept = "Nothing was written: -o post.json keeps the posterior."
        print(kept if output is None else f"written to {output}")
        if svg is not None:
            print(f"drawn in {svg}")


@contextmanager
def _in_words() -> Iterator[None]:
    """Errors and warnings of the library, in the words of the command line."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            yield
        except JensenError as error:
            raise type(error)(spell(str(error))) from None
    for warning in met:
        warnings.warn_explicit(
            spell(str(warning.message)), warning.category, warning.filename, warning.lineno
        )
