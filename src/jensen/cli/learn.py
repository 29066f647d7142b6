"""`jensen learn`: networks, mixtures and hidden Markov models, with values missing anywhere."""

from collections.abc import Mapping
from typing import Any

import typer

from jensen.cli import learn_options as of_learn
from jensen.cli import learned, learned_states, options
from jensen.cli.learn_network import learn_network
from jensen.cli.learn_options import Loop, ModelKind, Source
from jensen.cli.learn_states import StateChoices, learn_states
from jensen.exceptions import JensenError

NAME = "learn"
EPILOG = (
    "Example: jensen learn patients.csv --graph 'smoker -> cancer' --prior bdeu -o net.json; "
    "jensen learn answers.csv --graph 'kind -> a; kind -> b' --hidden kind=3 --n-init 10 --seed 0; "
    "jensen learn faithful.csv --model mixture --states 6 --prior default -o mixture.json; "
    "jensen learn walks.csv --model hmm --states 3 --emission gaussian --sequences walk -o hmm.json"
)
INTERRUPTED = 130


def command(
    data: options.Data,
    model: of_learn.Model = ModelKind.NETWORK,
    graph: of_learn.Graph = None,
    states: of_learn.States = None,
    prior: of_learn.Prior = None,
    equivalent_sample_size: options.SampleSize = None,
    method: of_learn.Method = None,
    hidden: of_learn.Hidden = None,
    covariance: of_learn.Covariance = None,
    emission: of_learn.Emission = None,
    end: of_learn.End = False,
    sequences: options.Sequences = None,
    column: of_learn.Columns = None,
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
    missing: options.Missing = None,
    categorical: options.Categorical = None,
    weights: options.Weights = None,
    complete_rows: options.CompleteRows = False,
    threads: options.Threads = None,
    as_json: options.Json = False,
) -> None:
    """Learn a model; values may be missing anywhere, and whole variables too.

    A network learns the tables of a graph. The other models learn hidden states: which component,
    class or state made a row.
    """
    options.set_threads(threads)
    options.refuse_two_inputs(data, graph, start)
    _check_files(output, checkpoint, model)
    options.refuse_together({"-o -": output == "-", "--json": as_json})
    source = Source(data, missing, categorical, weights, complete_rows)
    loop = Loop(method, n_init, max_iter, tol, n_samples, burn_in, thin, n_chains, seed)
    of_network = {
        "--graph": graph,
        "--hidden": hidden,
        "--equivalent-sample-size": equivalent_sample_size is not None,
    }
    chosen = StateChoices(states, prior, covariance, emission, end, sequences, column, start)
    if model is ModelKind.NETWORK:
        chosen.refuse_for_networks()
        found = learn_network(
            source, loop, graph, prior, equivalent_sample_size, hidden, states, start, checkpoint
        )
        _write(found, output, as_json, learned)
    else:
        _refuse_foreign(of_network, "--model network", model)
        found = learn_states(model, source, loop, chosen, checkpoint)
        _write(found, output, as_json, learned_states)


def _refuse_foreign(given: Mapping[str, object], owner: str, model: ModelKind) -> None:
    """Refuse options of another model; none is ignored in silence."""
    for name, is_given in given.items():
        if is_given:
            raise JensenError(f"{name} belongs to {owner}, not to --model {model.value}")


def _write(found: tuple[Any, Any], output: str | None, as_json: bool, words: Any) -> None:
    """Write what was learned, and tell about it in the words of its kind."""
    from jensen import io

    model, rows = found
    if output == "-":
        options.print_bytes(io.to_bytes(model))
    elif output is not None:
        model.save(output)
    if as_json:
        options.print_json(words.summary(model, rows, output))
    elif output != "-":
        words.tell(model, rows, output)
    if learned.was_stopped(model):
        raise typer.Exit(INTERRUPTED)


def _check_files(output: str | None, checkpoint: str | None, model: ModelKind) -> None:
    """Refuse files that cannot be written, before anything is read."""
    from jensen import io

    if output is not None and output != "-":
        is_network = model is ModelKind.NETWORK
        io.check_path(output, holds="BayesianNetwork" if is_network else f"{model.value} model")
    if checkpoint is not None:
        options.check_text_path(checkpoint)
        if checkpoint == output:
            raise JensenError(f"-o and --checkpoint both name {output}: name two files")
