"""`jensen learn` of other models than networks: hidden states, or hidden factors, of every row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.cli.command import Given
from jensen.cli.table_rows import RowSequences, find_sequences, require_numbers
from jensen.exceptions import JensenError, StoppedError
from jensen.models.emissions.registry import EMISSIONS, owner_of

if TYPE_CHECKING:
    from jensen.data import Table
    from jensen.estimators.choosing import ComponentsChoice

BY_KIND = "name columns of one kind with --column, or say which with --emission"
OTHERWISE = ", name columns of numbers with --column, or use --model latent-class"
OR_NAME_NUMBERS = ", or name columns of numbers with --column"

CHAIN_OPTIONS = ("n_samples", "burn_in", "thin", "n_chains")


class LearnedRows(NamedTuple):
    """The rows that a model was learned from."""

    weight: float  # of all rows
    n_rows: int
    n_sequences: int | None


MOST_STATES = 10
"""How many --states auto tries."""
STARTS = 5
"""Of each number that --states auto tries, unless --n-init is given."""


def learn_states(given: Given) -> tuple[Any, LearnedRows, ComponentsChoice | None]:
    """Learn; the model, the rows it was learned from, and which numbers of states were tried."""
    _check(given)
    n_states = _n_states(given)
    choices = {**inputs.loop_choices(given), "prior": read_prior(given.prior)}
    if given.start is not None:
        choices["start"] = inputs.read_states(given.start)
    table = inputs.read_table(given, _labels(given))
    sequences = find_sequences(table, given.sequences)
    table = _choose_columns(table, given)
    if given.complete_rows:
        table = table.complete_rows()
    _stop_if_interrupted()
    if given.model == "hmm":
        model, fit = _chain(n_states or 1, choices, given, table, sequences)
    else:
        model, fit = _mixture(n_states or 1, choices, given, table), {}
    rows = table.with_weights(None) if given.model == "hmm" else table
    n_sequences = len(sequences.lengths) if given.model == "hmm" else None
    told = LearnedRows(table.total_weight, table.n_rows, n_sequences)
    if given.model == "trees" and given.validation is not None:
        fit["validation"] = _validation(given)
    if n_states is not None:
        return model.fit(rows, **fit, checkpoint=given.checkpoint), told, None
    choice = _choose(model, given, rows, fit)
    return choice.model, told, choice


def _choose(model: Any, given: Given, table: Table, fit: dict[str, Any]) -> ComponentsChoice:
    """The number of states with the highest bound."""
    from jensen.estimators.choosing import choose_components

    if given.n_init is None:
        model.set_params(n_init=STARTS)
    numbers = range(1, min(MOST_STATES, table.n_rows) + 1)
    return choose_components(table, numbers, model=model, **fit)


# --- what was said ---


def _check(given: Given) -> None:
    """Refuse what this model would ignore."""
    for text in _labels(given):
        if "=" not in text:
            raise JensenError(f"--states {text}: write how many there are: --states 3")
    if given.model == "mixture" or not _may_have_labels(given.emission):
        for option, texts in (("--states", _labels(given)), ("--categorical", given.categorical)):
            if texts:
                raise JensenError(f"{option} {texts[0]}: the columns here hold numbers")
    if given.complete_rows and given.model == "hmm":
        raise JensenError(
            "--complete-rows would tear holes into sequences: values may be missing, keep them"
        )


def _n_states(given: Given) -> int | None:
    """The number of hidden states, which must be said once; None: whichever is best."""
    numbers = [text for text in given.states if inputs.is_state_number(text)]
    if len(numbers) != 1:
        raise JensenError("say once how many hidden states there are: --states 3")
    if numbers[0] == inputs.AUTO:
        _refuse_with_auto(given)
        return None
    if int(numbers[0]) < 1:
        raise JensenError(f"--states {numbers[0]}: there must be one at least")
    return int(numbers[0])


def _refuse_with_auto(given: Given) -> None:
    """Refuse what one number of states alone can have."""
    if given.method not in (None, "vbem"):
        raise JensenError(
            f"--states auto compares bounds of the log evidence, which --method {given.method} has "
            "not: leave it out"
        )
    for name in ("start", "checkpoint"):
        if getattr(given, name) is not None:
            raise JensenError(
                f"{given.table[name].flag} belongs to one number of states, and --states auto "
                "tries several: leave it out"
            )


def _labels(given: Given) -> list[str]:
    """What --states says of columns."""
    return [text for text in given.states if not inputs.is_state_number(text)]


def read_prior(text: str | None) -> dict[str, float] | None:
    """The prior, as the library takes it: `default`, or parts with their numbers."""
    if text is None:
        return None
    if text == "default":
        return {}
    parts: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            value = float(number)
        except ValueError:
            raise JensenError(
                f"--prior {text}: write default, or parts with their numbers: "
                f"--prior concentration=0.01,mean_strength=2"
            ) from None
        if name in parts:
            raise JensenError(f"--prior {text} names {name!r} twice")
        parts[name] = value
    return parts


# --- the rows ---


def _choose_columns(table: Table, given: Given) -> Table:
    """The columns to learn from: all but that of the sequences, unless they are named."""
    others = [name for name in table.names if name != given.sequences]
    for option, names in (("--column", given.column), ("--without", given.without)):
        if given.sequences in names:
            raise JensenError(f"{option} {given.sequences} names the column of the sequences")
    table = inputs.choose_columns(table.select(others), given.column, given.without)
    if not table.names:
        raise JensenError("there is no column to learn from")
    return table


def _stop_if_interrupted() -> None:
    """End before learning begins, if an interrupt came while the table was read."""
    from jensen.support.machine import interruptible

    with interruptible() as stop:
        if stop.is_set():
            raise StoppedError(
                "interrupted: the table was still being read, so nothing was learned, and nothing "
                "was written"
            )


# --- the models ---


def _mixture(n_states: int, choices: dict[str, Any], given: Given, table: Table) -> Any:
    from jensen.estimators.gaussian_mixture import GaussianMixture
    from jensen.estimators.latent_class import LatentClass

    if given.model == "latent-class":
        return LatentClass(n_states, **choices)
    if given.model == "trees":
        return _trees(n_states, choices, given)
    require_numbers(table, "a mixture", OTHERWISE)
    return GaussianMixture(n_states, **choices, **given.chosen("covariance"))


def _trees(n_states: int, choices: dict[str, Any], given: Given) -> Any:
    from jensen.estimators.mixture_of_trees import MixtureOfTrees

    for name in CHAIN_OPTIONS:
        if name in given.typed:
            raise JensenError(f"{given.table[name].flag} belongs to chains, which trees lack")
    return MixtureOfTrees(n_states, shared_structure=given.shared_structure, **choices)


def _validation(given: Given) -> Table:
    """Other rows, read as those of the DATA argument are."""
    other = given.replaced(data=given.validation)
    return _choose_columns(inputs.read_table(other, _labels(given)), given)


def _chain(
    n_states: int, choices: dict[str, Any], given: Given, table: Table, sequences: RowSequences
) -> tuple[Any, dict[str, Any]]:
    """A hidden Markov model, and what its `fit` takes."""
    from jensen.estimators.chain_choices import emission_of
    from jensen.estimators.hidden_markov_model import HiddenMarkovModel

    usual = getattr(choices.get("start"), "kind_", None)
    emission = given.emission or usual or emission_of(table.variables, BY_KIND)
    if not _may_have_labels(emission):
        require_numbers(table, f"an hmm with --emission {emission}", OTHERWISE)
    owner = owner_of("covariance").word
    if given.covariance is not None and emission != owner:
        raise JensenError(
            f"--covariance does not belong to an hmm whose states make {emission} columns: "
            f"add --emission {owner}"
        )
    estimator = HiddenMarkovModel(
        n_states, end=given.end, emission=emission, **choices, **given.chosen("covariance")
    )
    weight = sequences.weights(table.weights)
    return estimator, {"lengths": sequences.lengths, "sequence_weight": weight}


def _may_have_labels(emission: str | None) -> bool:
    """Whether columns of labels may be what states make; an unknown word is refused later."""
    return emission is None or (emission in EMISSIONS and EMISSIONS[emission].has_labels)


# --- factors ---


def learn_factors(given: Given) -> tuple[Any, LearnedRows]:
    """Learn; the model, and the rows that it was learned from."""
    from jensen.estimators.binary_factors import BinaryFactors
    from jensen.estimators.factor_analysis import FactorAnalysis
    from jensen.estimators.factor_mixture import MixtureOfFactorAnalyzers

    if given.factors is None:
        raise JensenError("say how many factors there are: --factors 2")
    if given.states and given.model != "factor-mixture":
        raise JensenError(f"--states {given.states[0]}: factors have none, say --factors 2")
    for name in CHAIN_OPTIONS:
        if name in given.typed:
            raise JensenError(f"{given.table[name].flag} belongs to chains, which factors lack")
    choices = {**inputs.loop_choices(given), "prior": read_prior(given.prior)}
    if given.start is not None:
        choices["start"] = inputs.read_factors(given.start)
    table = _read_numbers(given)
    choices["n_factors"] = given.factors
    if given.model == "factor-mixture":
        choices["n_components"] = _n_states(given)
    kinds = {"factors": FactorAnalysis, "binary-factors": BinaryFactors}
    kind = kinds.get(given.model, MixtureOfFactorAnalyzers)
    model = kind(**choices, **given.chosen("noise"))
    model.fit(table, checkpoint=given.checkpoint)
    return model, LearnedRows(table.total_weight, table.n_rows, None)


def _read_numbers(given: Given) -> Table:
    """The columns to learn from."""
    table = inputs.choose_columns(inputs.read_table(given, []), given.column, given.without)
    if not table.names:
        raise JensenError("there is no column to learn from")
    if given.complete_rows:
        table = table.complete_rows()
    require_numbers(table, f"a model of {given.model}", OR_NAME_NUMBERS)
    return table
