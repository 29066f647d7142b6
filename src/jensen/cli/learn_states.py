"""`jensen learn --model mixture|latent-class|hmm`: what hidden states make of rows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from jensen.cli import inputs
from jensen.cli.learn_options import Loop, ModelKind, Source
from jensen.cli.state_rows import Groups, group_rows, require_numbers
from jensen.exceptions import JensenError, StoppedError
from jensen.models.emissions.registry import EMISSIONS, owner_of

if TYPE_CHECKING:
    from jensen.data import Table


BY_KIND = "name columns of one kind with --column, or say which with --emission"
OTHERWISE = ", name columns of numbers with --column, or use --model latent-class"


class StateChoices(NamedTuple):
    """What was said of hidden states on the command line."""

    states: list[str] | None
    prior: str | None
    covariance: str | None
    emission: str | None
    end: bool
    sequences: str | None
    columns: list[str] | None
    without: list[str] | None
    start: str | None

    def refuse_for_networks(self) -> None:
        """Refuse what a network would ignore."""
        self._refuse(("covariance", "emission", "end", "sequences"), "network")
        if any(_is_number(text) for text in self.states or []):
            raise JensenError(
                "--states K belongs to --model mixture, latent-class or hmm; for a column of a "
                "network write its states: --states x=a,b,c"
            )

    def check(self, model: ModelKind, source: Source) -> None:
        """Refuse what this model would ignore."""
        if model is not ModelKind.HMM:
            self._refuse(("emission", "end", "sequences"), model.value)
        if model is ModelKind.LATENT_CLASS:
            self._refuse(("covariance",), model.value)
        for text in self.labels():
            if "=" not in text:
                raise JensenError(f"--states {text}: write how many there are: --states 3")
        if model is ModelKind.MIXTURE or not _may_have_labels(self.emission):
            given = {"--states": self.labels(), "--categorical": source.categorical}
            for option, texts in given.items():
                if texts:
                    raise JensenError(f"{option} {texts[0]}: the columns here hold numbers")
        if source.complete_rows and model is ModelKind.HMM:
            raise JensenError(
                "--complete-rows would tear holes into sequences: values may be missing, keep them"
            )

    def n_states(self) -> int:
        """K, which must be said once."""
        numbers = [text for text in self.states or [] if _is_number(text)]
        if len(numbers) != 1:
            raise JensenError("say once how many hidden states there are: --states 3")
        if int(numbers[0]) < 1:
            raise JensenError(f"--states {numbers[0]}: there must be one at least")
        return int(numbers[0])

    def labels(self) -> list[str]:
        """What --states says of columns."""
        return [text for text in self.states or [] if not _is_number(text)]

    def _refuse(self, names: tuple[str, ...], model: str) -> None:
        for name in names:
            if getattr(self, name):
                raise JensenError(f"--{name} does not belong to --model {model}")


class Learned(NamedTuple):
    """What a model was learned from."""

    weight: float  # of all rows
    n_rows: int
    n_sequences: int | None


def learn_states(
    model: ModelKind, source: Source, loop: Loop, chosen: StateChoices, checkpoint: str | None
) -> tuple[Any, Learned]:
    """Learn; the model, and from what."""
    chosen.check(model, source)
    K, prior = chosen.n_states(), read_prior(chosen.prior)
    choices: dict[str, Any] = {**loop.chosen(), "prior": prior, "progress": sys.stderr.isatty()}
    if chosen.start is not None:
        choices["start"] = inputs.read_states(chosen.start)
    table, groups = _read(source, chosen)
    _stop_if_wished()
    estimator = _LEARNERS[model](K, choices, chosen, table, groups, checkpoint)
    n_sequences = len(groups.lengths) if model is ModelKind.HMM else None
    return estimator, Learned(table.total_weight, table.n_rows, n_sequences)


def _read(source: Source, chosen: StateChoices) -> tuple[Table, Groups]:
    table = source.read(chosen.labels())
    groups = group_rows(table, chosen.sequences)
    table = _columns(table, chosen)
    return (table.complete_rows() if source.complete_rows else table), groups


def _stop_if_wished() -> None:
    """End before learning begins, if that is wished already."""
    from jensen.runs.interrupts import interruptible

    with interruptible() as wish:
        if wish.is_set():
            raise StoppedError(
                "interrupted: the table was still being read, so nothing was learned, and nothing "
                "was written"
            )


def _columns(table: Table, chosen: StateChoices) -> Table:
    """The columns to learn from: all but that of the sequences, unless they are named."""
    others = [name for name in table.names if name != chosen.sequences]
    for option, given in (("--column", chosen.columns), ("--without", chosen.without)):
        if given and chosen.sequences in given:
            raise JensenError(f"{option} {chosen.sequences} names the column of the sequences")
    table = inputs.choose_columns(table.select(others), chosen.columns, chosen.without)
    if not table.names:
        raise JensenError("there is no column to learn from")
    return table


def _mixture(
    K: int,
    choices: dict[str, Any],
    chosen: StateChoices,
    table: Table,
    groups: Groups,
    checkpoint: str | None,
) -> Any:
    from jensen.estimators.gaussian_mixture import GaussianMixture

    require_numbers(table, "a mixture", OTHERWISE)
    if chosen.covariance is not None:
        choices["covariance"] = chosen.covariance
    estimator = GaussianMixture(K, **choices)
    return estimator.fit(table, checkpoint=checkpoint)


def _latent_class(
    K: int,
    choices: dict[str, Any],
    chosen: StateChoices,
    table: Table,
    groups: Groups,
    checkpoint: str | None,
) -> Any:
    from jensen.estimators.latent_class import LatentClass

    return LatentClass(K, **choices).fit(table, checkpoint=checkpoint)


def _hmm(
    K: int,
    choices: dict[str, Any],
    chosen: StateChoices,
    table: Table,
    groups: Groups,
    checkpoint: str | None,
) -> Any:
    from jensen.estimators.chain_choices import emission_of
    from jensen.estimators.hidden_markov_model import HiddenMarkovModel

    usual = getattr(choices.get("start"), "kind_", None)
    emission = chosen.emission or usual or emission_of(table.variables, BY_KIND)
    if not _may_have_labels(emission):
        require_numbers(table, f"an hmm with --emission {emission}", OTHERWISE)
    if chosen.covariance is not None:
        owner = owner_of("covariance").word
        if emission != owner:
            raise JensenError(
                f"--covariance does not belong to an hmm whose states make {emission} columns: "
                f"add --emission {owner}"
            )
        choices["covariance"] = chosen.covariance
    choices["emission"] = emission
    estimator = HiddenMarkovModel(K, end=chosen.end, **choices)
    return estimator.fit(
        table.with_weights(None),
        lengths=groups.lengths,
        sequence_weight=groups.weights(table.weights),
        checkpoint=checkpoint,
    )


_LEARNERS = {
    ModelKind.MIXTURE: _mixture,
    ModelKind.LATENT_CLASS: _latent_class,
    ModelKind.HMM: _hmm,
}


def read_prior(text: str | None) -> dict[str, float] | None:
    """A prior in words: `default`, or parts with their numbers."""
    if text is None:
        return None
    if text == "default":
        return {}
    words: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            value = float(number)
        except ValueError:
            raise JensenError(
                f"--prior {text}: write default, or parts with their numbers: "
                f"--prior concentration=0.01,mean_strength=2"
            ) from None
        if name in words:
            raise JensenError(f"--prior {text} names {name!r} twice")
        words[name] = value
    return words


def _may_have_labels(emission: str | None) -> bool:
    """Whether columns of labels may be what states make; a word that is none is refused later."""
    return emission is None or (emission in EMISSIONS and EMISSIONS[emission].has_labels)


def _is_number(text: str) -> bool:
    return "=" not in text and text.strip().lstrip("+-").isdecimal()
