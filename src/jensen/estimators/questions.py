"""What a network can be asked; the fitted network answers, whatever it is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from jensen.data import Table
from jensen.estimators.row_questions import RowQuestions
from jensen.exceptions import JensenError
from jensen.support.arguments import as_generator
from jensen.support.text import option

if TYPE_CHECKING:
    from jensen.inference.approximate import LabelledNumber
    from jensen.inference.fitted import Answer

Inference = Literal["exact", "auto", "loopy", "trw", "mean-field", "mini-bucket", "gibbs"]

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
        inference: Inference = "exact",
        i_bound: int | None = None,
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
        inference
            How a network of labels answers. "exact"; "auto": exactly where memory allows, else by
            "loopy" belief propagation, and the answer says why. The others are for trees that are
            too large: "loopy" (an estimate), "trw" (tree-reweighted), "mean-field", "mini-bucket"
            (bounds of every probability, as tight as `i_bound` allows) and "gibbs" (draws by blocks
            without loops). Every answer prints what it is: exact, bounds, or an estimate, and
            whether it settled.
        i_bound
            Of "mini-bucket": the variables of its largest message; by default what memory allows.

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
        many = interval is not None or not (given is None or isinstance(given, Mapping))
        exact = inference == "auto" and many
        asked = None if exact else self._approximately(inference, i_bound)
        if asked is not None:
            if interval is not None or not (given is None or isinstance(given, Mapping)):
                raise JensenError(
                    f"{option('inference', inference)} is for one question without an interval: "
                    "leave it out, or ask row by row"
                )
            found: Answer = asked.query(targets, given, do)
            return found
        rng = None if interval is None else as_generator(random_state)
        return self.require_any().query(
            targets, given, do, interval=interval, rng=rng, hidden=self._hidden()
        )

    def marginals(
        self,
        given: Given | None = None,
        do: Given | None = None,
        *,
        inference: Inference = "exact",
        i_bound: int | None = None,
    ) -> Mapping[str, Any]:
        """P(X | do, given) of every variable X that is not known, by name.

        Parameters
        ----------
        given, do
            As in `query`, for one set of findings.
        inference, i_bound
            As in `query`.

        Examples
        --------
        >>> import jensen as jn
        >>> known = jn.examples.load("sprinkler").marginals(given={"wet_grass": "yes"})
        >>> list(known), round(known["rain"]["yes"], 4)
        (['cloudy', 'rain', 'sprinkler'], 0.7079)
        """
        asked = self._approximately(inference, i_bound)
        return (asked or self.require_any()).marginals(given, do)

    def probability(
        self,
        given: Given,
        do: Given | None = None,
        *,
        inference: Inference = "exact",
        i_bound: int | None = None,
    ) -> float:
        """P(given | do), the probability of the evidence; 0.0 if it is impossible.

        `inference` and `i_bound` as in `query`; the answer is then a float that says what it is.
        """
        asked = self._approximately(inference, i_bound)
        return (asked or self.require_any()).probability(given, do)

    def log_probability(
        self,
        given: Given,
        do: Given | None = None,
        *,
        inference: Inference = "exact",
        i_bound: int | None = None,
    ) -> float:
        """Log P(given | do), of a Gaussian network its log density; -inf if it is impossible.

        `inference` and `i_bound` as in `query`; the answer is then a float that says what it is.
        """
        asked = self._approximately(inference, i_bound)
        return (asked or self.require_any()).log_probability(given, do)

    def log_z(
        self,
        given: Given | None = None,
        do: Given | None = None,
        *,
        inference: Inference = "exact",
        i_bound: int | None = None,
    ) -> LabelledNumber:
        """Log Σ of the product of all tables, over the states that fit what is known.

        Of a Bayesian network this is log P(given | do), of a Markov network log Z or, with
        evidence, the log of the part of Z that fits it.

        Parameters
        ----------
        given, do
            As in `query`.
        inference
            As in `query`. From "mean-field" it is a lower bound, from "trw" an upper one, from
            "mini-bucket" both, and from "loopy" an estimate with bounds on both sides.
        i_bound
            As in `query`.

        Returns
        -------
        LabelledNumber
            A float with `label`, `lower` and `upper`.

        Examples
        --------
        >>> import jensen as jn
        >>> net = jn.examples.load("sprinkler")
        >>> found = net.log_z({"wet_grass": "yes"}, inference="mini-bucket", i_bound=1)
        >>> found.lower < net.log_z({"wet_grass": "yes"}) < found.upper, found.label.kind
        (True, 'upper bound')
        """
        from jensen.inference.approximate.answers import Approximate
        from jensen.inference.approximate.methods import InferenceOptions

        asked = Approximate(self.require_any(), inference, InferenceOptions(i_bound))
        return asked.log_z(given, do)

    def _approximately(self, inference: str, i_bound: int | None) -> Any:
        """What answers in this way; None: the network itself, exactly."""
        if inference == "exact" and i_bound is None:
            return None
        from jensen.inference.approximate.answers import Approximate
        from jensen.inference.approximate.methods import InferenceOptions

        return Approximate(self.require_any(), inference, InferenceOptions(i_bound))

    def most_probable(
        self,
        given: Given | None = None,
        do: Given | None = None,
        *,
        k: int | None = None,
        inference: Inference = "exact",
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
        inference
            "exact", or another word of `query`: the states are then found by dual decomposition,
            and the answer says whether any others could be more probable (`is_certain`, `bound`).

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
        asked = self._approximately(inference, None) or self.require_any()
        found = asked.most_probable(given, do, 1 if k is None else k)
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
