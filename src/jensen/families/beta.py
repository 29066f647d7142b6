"""Beta distributions over the probability p of success.

η = (b - 1, a - 1) and t(p) = (log(1 - p), log p): failure is state 0, success state 1, so this is
a Dirichlet over the two cells of the last axis.
"""

from dataclasses import dataclass

from jensen.families.dirichlet import Array, Dirichlet


@dataclass(frozen=True)
class Beta(Dirichlet):
    """One probability for each pair along the last axis of an array (..., 2)."""

    def describe(self, eta: Array) -> dict[str, Array]:
        """How many successes and failures it is worth, and the mean probability of success."""
        return {
            "successes": eta[..., 1] + 1.0,
            "failures": eta[..., 0] + 1.0,
            "mean": self.mean(eta)[..., 1],
        }


beta = Beta()
"""The family of arrays (K, D, 2)."""
