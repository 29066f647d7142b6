"""`jensen learn`: networks and their graphs, mixtures and hidden Markov models."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import typer

from jensen.cli import graph_alone, learned, learned_states, options, outputs
from jensen.cli import independence_options as of_tests
from jensen.cli import learn_options as of_learn
from jensen.cli import structure_options as of_graph
from jensen.cli.gaussian_scale import Scale
from jensen.cli.graph_prior import GraphPrior
from jensen.cli.inputs import Reading
from jensen.cli.learn_network import learn_network
from jensen.cli.learn_options import Loop, ModelKind, NetworkChoices, Source
from jensen.cli.learn_states import StateChoices, learn_states
from jensen.cli.learn_structure import learn_structure
from jensen.cli.structure_options import StructureChoices
from jensen.exceptions import JensenError
from jensen.runs.interrupts import interruptible

NAME = "learn"
EPILOG = "\n".join(
    [
        "\b",  # keeps the lines as they are
        "Example: jensen learn patients.csv --score bic --max-parents 3 --svg net.svg -o net.json",
        "  jensen learn patients.csv --structure exact --tier age,sex --tier smoker,cancer",
        "  jensen learn patients.csv --structure pc --test x2 --correction fdr --max-given 3",
        "  jensen learn patients.csv --structure exact --graph-prior 'smoker -> cancer=0.9'",
        "  jensen learn patients.csv --bootstrap 200 --seed 0 --svg stable.svg",
        "  jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json",
        "  jensen learn answers.csv --graph 'kind -> a; kind -> b' --hidden kind=3 --n-init 10",
        "  jensen learn faithful.csv --model mixture --states 6 --prior default -o mixture.json",
        "  jensen learn walks.csv --model hmm --states 3 --sequences walk -o hmm.json",
    ]
)
INTERRUPTED = 130
OF_ALL_MODELS = (
    "--column",
    "--without",
    "--prior",
    "--states",
    "--start",
    "--checkpoint",
    "--output",
)


def command(
    context: typer.Context,
    data: options.Data,
    model: of_learn.Model = ModelKind.NETWORK,
    graph: of_learn.Graph = None,
    structure: of_graph.Structure = None,
    score: of_graph.Score = None,
    max_parents: of_graph.MaxParents = None,
    required: of_graph.Required = None,
    forbidden: of_graph.Forbidden = None,
    tier: of_graph.Tiers = None,
    start_graph: of_graph.StartGraph = None,
    restarts: of_graph.Restarts = None,
    tabu_length: of_graph.TabuLength = None,
    bootstrap: of_graph.Bootstrap = None,
    test: of_tests.Test = None,
    alpha: of_tests.Alpha = None,
    max_given: of_tests.MaxGiven = None,
    correction: of_tests.Correction = None,
    permutations: of_tests.Permutations = None,
    time_limit: of_graph.TimeLimit = None,
    interventions: of_graph.Interventions = None,
    prior_network: options.PriorNetwork = None,
    graph_prior: GraphPrior = None,
    available_case: options.AvailableCase = False,
    states: of_learn.States = None,
    prior: of_learn.Prior = None,
    equivalent_sample_size: options.SampleSize = None,
    scale: Scale = None,
    method: of_learn.Method = None,
    hidden: of_learn.Hidden = None,
    covariance: of_learn.Covariance = None,
    emission: of_learn.Emission = None,
    end: of_learn.End = False,
    sequences: options.Sequences = None,
    column: of_learn.Columns = None,
    without: of_graph.Without = None,
    n_init: of_learn.Starts = None,
    max_iter: of_learn.MaxIter = None,
    tol: of_learn.Tol = None,
    n_samples: of_learn.Samples = None,
    burn_in: of_learn.BurnIn = None,
    thin: of_learn.Thin = None,
    n_chains: of_learn.Chains = None,
    seed: options.Seed = None,
    start: of_learn.Start = None,
    checkpoint: of_learn.Checkpoint = None,
    output: of_learn.Output = None,
    svg: of_graph.Svg = None,
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    categorical: options.Categorical = None,
    continuous: options.Continuous = None,
    counts: options.Counts = None,
    weights: options.Weights = None,
    complete_rows: options.CompleteRows = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Learn a model: a network with its graph, or hidden states.

    A network without --graph learns the graph of all columns, from complete rows, and then its
    parameters (without --prior the most likely ones); with --graph it learns the parameters, and
    values may be missing anywhere, whole variables too. The other models learn hidden states:
    which component, class or state made a row.
    """
    if model is not ModelKind.NETWORK:
        # compiling and preparing rows may take long: an interrupt then lets the first sweep end
        context.with_resource(interruptible())
    options.set_threads(threads)
    options.refuse_two_inputs(data, graph, start, start_graph, prior_network)
    _check_files(output, checkpoint, svg, model)
    options.refuse_together({"-o -": output == "-", "--svg -": svg == "-", "--json": as_json})
    reading = Reading(missing, separator, decimal)
    source = Source(data, reading, categorical, weights, complete_rows, continuous, counts)
    loop = Loop(method, n_init, max_iter, tol, n_samples, burn_in, thin, n_chains, seed)
    files = Files(output, svg, as_json)
    of_graph_alone = StructureChoices(
        structure, score, prior_network, graph_prior, available_case, max_parents, required,
        forbidden, tier, start_graph, restarts, tabu_length, interventions, bootstrap, test, alpha,
        max_given, correction, permutations, time_limit, column, without,
    )  # fmt: skip
    of_network = NetworkChoices(
        graph, prior, equivalent_sample_size, scale, hidden, states, start, checkpoint, output
    )
    of_states = StateChoices(
        states, prior, covariance, emission, end, sequences, column, without, start
    )
    if model is not ModelKind.NETWORK:
        foreign = [*of_graph_alone.given(), *of_network.given(), *(["--svg"] if svg else [])]
        _refuse_foreign(foreign, model)
        _write(*learn_states(model, source, loop, of_states, checkpoint), files, learned_states)
        return
    of_states.refuse_for_networks()
    options.refuse_for_networks({"--counts": counts})
    if graph is not None:
        of_graph_alone.refuse_beside_graph()
        net, table = learn_network(source, loop, graph, of_network)
        found = None
    else:
        of_network.refuse_without_graph()
        net, table, found = learn_structure(
            source, loop, of_network, of_graph_alone, context.obj or ()
        )
        if net is None:
            graph_alone.write(found, table, output, svg, as_json)
            if found.interrupted:
                raise typer.Exit(INTERRUPTED)
            return
    _write(net, learned.LearnedFrom(table, found, svg), files, learned)


class Files(NamedTuple):
    """Where the answer goes."""

    output: str | None
    svg: str | None
    as_json: bool

    @property
    def is_printed(self) -> bool:
        """Whether standard output is taken."""
        return "-" in (self.output, self.svg)


def _refuse_foreign(given: Iterable[str], model: ModelKind) -> None:
    """Refuse options of another model; none is ignored in silence."""
    for name in given:
        if name not in OF_ALL_MODELS:
            raise JensenError(f"{name} belongs to --model network, not to --model {model.value}")


def _write(model: Any, source: Any, files: Files, words: Any) -> None:
    """Write what was learned, and tell about it in the words of its kind."""
    from jensen import io

    if files.output == "-":
        outputs.print_bytes(io.to_bytes(model))
    elif files.output is not None:
        model.save(files.output)
    if files.svg is not None:
        outputs.write_text(model.to_svg(), files.svg)
    if files.as_json:
        outputs.print_json(words.summary(model, source, files.output))
    elif not files.is_printed:
        words.tell(model, source, files.output)
    if learned.was_stopped(model, source):
        raise typer.Exit(INTERRUPTED)


def _check_files(
    output: str | None, checkpoint: str | None, svg: str | None, model: ModelKind
) -> None:
    """Refuse files that cannot be written, before anything is read."""
    from jensen import io

    if output is not None and output != "-":
        is_network = model is ModelKind.NETWORK
        io.check_path(output, holds="BayesianNetwork" if is_network else f"{model.value} model")
    written: dict[str, str] = {}
    for option, path in (("-o", output), ("--checkpoint", checkpoint), ("--svg", svg)):
        if path is None or (path == "-" and option != "--checkpoint"):
            continue
        if option != "-o":
            check = outputs.check_svg_path if option == "--svg" else outputs.check_text_path
            check(path)
        if path in written:
            raise JensenError(f"{written[path]} and {option} both name {path}: name two files")
        written[path] = option
