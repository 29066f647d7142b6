"""What a network can be asked; the fitted network answers, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.data import Table
from jensen.estimators.row_questions import RowQuestions
from jensen.exceptions import JensenError
from jensen.support.arguments import as_generator

if TYPE_CHECKING:
    from jensen.inference.fitted import Answer

Given = Mapping[str, Any]


class Questions(RowQuestions):
    """Queries about one set of findings, and those about rows; mixed into an estimator."""

    def query(
        self,
        targets: str | Sequence[str],
        given: Any = None,
        do: Given | None = None,
        *,
        interval: float | None = None,
        random_state: Any = 0,
    ) -> Answer:
        """P(targets | do, given), exactly.

        Parameters
        ----------
        targets
            A variable, or several, which are then asked for jointly.
        given
            Variable → state; or → a likelihood for every state (a list, or a dict from state to
            likelihood); a target may have a likelihood, but not a state. A table, or a list of such
            dicts, asks once for every row (what is missing in a table is not known, and columns of
            targets are not looked at).
        do
            Variable → the state it is set to: the arrows into it are cut before anything is given.
            Of a Gaussian network `given` and `do` hold numbers, and the answer is a
            `GaussianDistribution` with means and covariances, of many rows
            `GaussianDistributions`. Beside labels, numbers have a `MixtureDistribution`: a Gaussian
            for every configuration of the labels around them.
        interval
            Also bounds of every probability that hold the posterior with this probability, from
            1,000 draws of the tables (after "vbem") or from the samples (after "gibbs").
        random_state
            Of these draws.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.examples.load("sprinkler")
        >>> net.query("rain", given={"wet_grass": "yes"})
        P(rain | wet_grass=yes)
        rain  probability
        -----------------
        no         0.2921
        yes        0.7079
        >>> round(net.query("rain", given={"wet_grass": "yes"}, do={"sprinkler": "on"})["yes"], 4)
        0.5238
        """
        rng = None if interval is None else as_generator(random_state)
        return self.require_any().query(
            targets, given, do, interval=interval, rng=rng, hidden=self._hidden()
        )

    def marginals(self, given: Given | None = None, do: Given | None = None) -> Mapping[str, Any]:
        """P(X | do, given) of every variable X that is not known, by name.

        Parameters
        ----------
        given, do
            As in `query`, for one set of findings.

        Examples
        --------
        >>> import jensen as jn
        >>> known = jn.examples.load("sprinkler").marginals(given={"wet_grass": "yes"})
        >>> list(known), round(known["rain"]["yes"], 4)
        (['cloudy', 'rain', 'sprinkler'], 0.7079)
        """
        return self.require_any().marginals(given, do)

    def probability(self, given: Given, do: Given | None = None) -> float:
        """P(given | do), the probability of the evidence; 0.0 if it is impossible."""
        return self.require_any().probability(given, do)

    def log_probability(self, given: Given, do: Given | None = None) -> float:
        """Log P(given | do), of a Gaussian network its log density; -inf if it is impossible."""
        return self.require_any().log_probability(given, do)

    def most_probable(
        self, given: Given | None = None, do: Given | None = None, *, k: int | None = None
    ) -> Any:
        """The most probable states of everything that is not known, and how probable they are.

        Of labels and numbers: the most probable labels, numbers integrated out; then the means. Of
        numbers alone: their means, where the density is highest.

        The answer's `log_probability` is log P(states, given | do), jointly with the evidence; its
        `log_conditional` is log P(states | given, do).

        Parameters
        ----------
        given, do
            As in `query`.
        k
            Give a list of the k best instead; shorter if no more are possible.

        Examples
        --------
        >>> import jensen as jn
        >>> best = jn.examples.load("sprinkler").most_probable(given={"wet_grass": "yes"})
        >>> best
        log probability -1.12701 together with the evidence, -0.691757 given the evidence
        cloudy     yes
        rain       yes
        sprinkler  off
        >>> round(best.log_conditional, 3)
        -0.692
        """
        found = self.require_any().most_probable(given, do, 1 if k is None else k)
        return found[0] if k is None else found

    def sample(
        self,
        n: int,
        *,
        given: Given | None = None,
        do: Given | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> Table:
        """Draw n rows, exactly given what is known; the same seed gives the same rows.

        Parameters
        ----------
        n
            How many rows.
        given, do
            As in `query`, for one set of findings; known variables become constant columns.
        random_state
            An int, `SeedSequence`, `Generator` or None; rows do not depend on threads.
        progress
            Whether to show a progress bar.

        Examples
        --------
        >>> import jensen as jn
        >>> jn.examples.load("sprinkler").sample(3, given={"rain": "yes"}, random_state=0)
        Table: 3 rows, 4 columns
          cloudy     categorical  no, yes
          rain       categorical  no, yes
          sprinkler  categorical  off, on
          wet_grass  categorical  no, yes
        """
        if not isinstance(n, int | np.integer) or n < 0:
            raise JensenError(f"the number of rows to draw must be 0, 1, 2, ..., not {n!r}")
        rng = as_generator(random_state)
        return self.require_any().sample(int(n), given, do, rng, progress=progress)

    def entropy(
        self, targets: str | Sequence[str] | None = None, given: Given | None = None
    ) -> float:
        """Entropy of P(targets | given) in nats: -Σ p log p, of Gaussians the differential one.

        Parameters
        ----------
        targets
            A variable, or several, whose joint entropy is meant. None: all that are not known.
        given
            As in `query`.
        """
        return self.require_any().entropy(targets, given)

    def mutual_information(
        self,
        a: str | Sequence[str],
        b: str | Sequence[str],
        given: Given | Sequence[str] | None = None,
    ) -> float:
        """I(a; b) in nats: by how much b lowers the entropy of a.

        Parameters
        ----------
        a, b
            A variable each, or several.
        given
            A dict is evidence: I(a; b) under P(· | evidence). A list names variables: the
            conditional mutual information I(a; b | variables), averaged over their states.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.examples.load("sprinkler")
        >>> round(net.mutual_information("rain", "sprinkler"), 4)
        0.035
        >>> round(net.mutual_information("rain", "sprinkler", given=["cloudy"]), 4)
        0.0
        """
        return self.require_any().mutual_information(a, b, given)
