"""What a caller chose about chains over graphs, checked before any work begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jensen.exceptions import GraphError, JensenError
from jensen.q_graph.chains.run import Plan
from jensen.support.checks import check_whole
from jensen.support.memory import STREAM, check_many
from jensen.support.text import offer

N_SAMPLES, N_CHAINS = 1000, 4

THIN = {"partition": 400, "order": 400, "structure": 10_100}
"""Proposals between two samples, unless chosen otherwise."""

MOST_OUTSIDE = 2


class ChainChoices(NamedTuple):
    """As `structure_posterior` says; None is the default."""

    candidates: int | Mapping[str, Sequence[str]] | None
    outside: int | None
    n_samples: int | None
    n_chains: int | None
    burn_in: int | None
    thin: int | None
    temperatures: int | None
    checkpoint: str | Path | None

    def refuse_all(self) -> None:
        """Nothing of this is for sums over all graphs."""
        for name, value in self._asdict().items():
            if value is not None:
                raise JensenError(f"{name}= belongs to chains, and method='exact' has none")

    def plan(self, method: str, cycle_length: int) -> Plan:
        """How long chains run, in whole cycles."""
        least = {"n_samples": 1, "n_chains": 1, "burn_in": 0, "thin": 1, "temperatures": 1}
        for name, at_least in least.items():
            value = getattr(self, name)
            if value is not None:
                check_whole(name, value, at_least=at_least)
        n_samples = N_SAMPLES if self.n_samples is None else int(self.n_samples)
        thin = _up(THIN[method] if self.thin is None else self.thin, cycle_length)
        burn_in = -(-n_samples // 2)
        if self.burn_in is not None:
            burn_in = _up(self.burn_in, thin * cycle_length)
        n_chains = N_CHAINS if self.n_chains is None else int(self.n_chains)
        check_many(n_chains, STREAM, "chains (n_chains)", "choose fewer")
        check_many(int(self.temperatures or 1), STREAM, "temperatures", "choose fewer")
        return Plan(n_chains, n_samples, burn_in, thin, int(self.temperatures or 1))

    def listed(self, names: Sequence[str]) -> int | dict[int, list[int]] | None:
        """The candidates by position."""
        if self.outside is not None:
            check_whole("outside", self.outside, at_least=0)
            if self.outside > MOST_OUTSIDE:
                raise JensenError(f"outside= is at most {MOST_OUTSIDE}, not {self.outside}")
        if not isinstance(self.candidates, Mapping):
            if self.candidates is None:
                return None
            check_whole("candidates", self.candidates, at_least=0)
            return int(self.candidates)
        at = {name: v for v, name in enumerate(names)}
        found = {}
        for child, listed in self.candidates.items():
            if isinstance(listed, str) or not isinstance(listed, Iterable):
                raise GraphError(f"candidates= lists parents of {child!r}: write [{listed!r}]")
            listed = list(listed)
            for name in (child, *listed):
                if name not in at:
                    raise GraphError(
                        f"candidates= names {name!r}, which is no column; "
                        f"{offer(name, names, 'column')}"
                    )
            if child in listed:
                raise GraphError(f"candidates= has {child!r} among its own parents")
            found[at[child]] = sorted({at[name] for name in listed})
        return found


def show_prior(prior: Any) -> Any:
    """A prior as plain data: edges of a dictionary as a list [from, to, probability]."""
    if isinstance(prior, Mapping):
        return [[a, b, float(p)] for (a, b), p in prior.items()]
    return [show_prior(part) for part in prior] if isinstance(prior, (tuple, list)) else prior


def is_plain(value: Any) -> bool:
    """Whether a file can hold it: a choice that is data is not kept."""
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(item) for key, item in value.items())
    return value is None or isinstance(value, (str, bool, int, float))


def _up(amount: int, unit: int) -> int:
    """Whole units that make at least this amount."""
    return -(-int(amount) // unit)
