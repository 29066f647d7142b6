"""What a network with tables can be asked; the answers are computed in `jensen.inference`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.own_columns import MissingColumns
from jensen.data.refill import Filled, put_back
from jensen.data.unknown_labels import warn_of_unknown
from jensen.estimators import gaussian_rows
from jensen.estimators.network_rows import RowReader
from jensen.exceptions import DataError, JensenError
from jensen.inference import (
    Distribution,
    Distributions,
    Network,
    conditional,
    forward,
    gaussian_queries,
    information,
)
from jensen.inference import query as queries
from jensen.inference.completions import Method, complete
from jensen.inference.counts import expected_counts
from jensen.inference.findings import known_states
from jensen.inference.gaussian_distribution import GaussianDistribution
from jensen.inference.gaussian_distributions import GaussianDistributions
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.most_probable import most_probable
from jensen.inference.rows import all_posteriors, log_likelihood
from jensen.randomness import as_generator
from jensen.text import some

Given = Mapping[str, Any]


class Questions:
    """Queries, predictions and completions; mixed into an estimator."""

    def require_network(self) -> Network:
        """The frozen network of tables, or an error if there is none."""
        raise NotImplementedError

    @property
    def gaussian(self) -> GaussianNetwork | None:
        """The frozen network of regressions, if the variables are continuous."""
        raise NotImplementedError

    # --- one question ---

    def query(
        self,
        targets: str | Sequence[str],
        given: Any = None,
        do: Given | None = None,
        *,
        interval: float | None = None,
        random_state: Any = 0,
    ) -> Distribution | Distributions | GaussianDistribution | GaussianDistributions:
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
            `GaussianDistributions`.
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
        if self.gaussian is not None:
            if interval is not None:
                raise JensenError("the answer of a Gaussian network has .interval(level) itself")
            if given is None or isinstance(given, Mapping):
                return gaussian_queries.query(self.gaussian, targets, given, do)
            return gaussian_rows.query_many(self.gaussian, targets, given, do)
        network = self.require_network()
        if given is None or isinstance(given, Mapping):
            rng = None if interval is None else as_generator(random_state)
            return queries.query(network, targets, given, do, interval, rng)
        if interval is not None:
            raise JensenError("intervals are for one question: give a dict, not many rows")
        if isinstance(given, list | tuple):
            if not all(isinstance(row, Mapping) for row in given):
                raise JensenError("a list of evidence holds a dict for every row")
            return queries.query_many(network, targets, given, do)
        if isinstance(targets, str) and not do:
            values = self.predict_proba(given, targets, missing_columns="ignore")
            return Distributions((network.variables[network.index(targets)],), values)
        names = [targets] if isinstance(targets, str) else targets
        rows = self._rows().read(given, "raise", "ignore", skip=names)
        return queries.query_many(network, targets, known_states(network, rows), do)

    def marginals(self, given: Given | None = None, do: Given | None = None) -> Mapping[str, Any]:
        """P(X | do, given) of every variable X that is not known, by name."""
        if self.gaussian is not None:
            return gaussian_queries.marginals(self.gaussian, given, do)
        return queries.marginals(self.require_network(), given, do)

    def probability(self, given: Given, do: Given | None = None) -> float:
        """P(given | do); 0.0 if it is impossible."""
        if self.gaussian is not None:
            raise JensenError(
                "a value of a continuous variable has no probability: log_probability gives its "
                "log density"
            )
        return float(np.exp(self.log_probability(given, do)))

    def log_probability(self, given: Given, do: Given | None = None) -> float:
        """Log P(given | do), of a Gaussian network its log density; -inf if it is impossible."""
        if self.gaussian is not None:
            return gaussian_queries.log_probability(self.gaussian, given, do)
        return queries.log_probability(self.require_network(), given, do)

    def most_probable(
        self, given: Given | None = None, do: Given | None = None, *, k: int | None = None
    ) -> Any:
        """The most probable states of everything that is not known, and how probable they are.

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
        found = most_probable(self.require_network(), given, do, 1 if k is None else k)
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
        """Draw n rows, exactly given what is known; the same seed gives the same rows."""
        if not isinstance(n, int | np.integer) or n < 0:
            raise JensenError(f"the number of rows to draw must be 0, 1, 2, ..., not {n!r}")
        if self.gaussian is not None:
            return gaussian_rows.draw(self.gaussian, int(n), given, do, random_state)
        network, rng = self.require_network(), as_generator(random_state)
        if not given and not do and network.samples is None:
            return forward.sample(network, int(n), rng, progress=progress)
        return conditional.sample_given(network, int(n), given, do, rng)

    def entropy(
        self, targets: str | Sequence[str] | None = None, given: Given | None = None
    ) -> float:
        """Entropy of P(targets | given) in nats; of all that is not known, without targets."""
        if self.gaussian is not None:
            return gaussian_queries.entropy(self.gaussian, targets, given)
        return information.entropy(self.require_network(), targets, given)

    def mutual_information(
        self,
        a: str | Sequence[str],
        b: str | Sequence[str],
        given: Given | Sequence[str] | None = None,
    ) -> float:
        """I(a; b) in nats.

        `given` is evidence (a dict: I under P(· | evidence)) or names of variables (a list: the
        conditional mutual information, averaged over their states).
        """
        if self.gaussian is not None:
            return gaussian_queries.mutual_information(self.gaussian, a, b, given)
        return information.mutual_information(self.require_network(), a, b, given)

    # --- many rows ---

    def predict_proba(
        self,
        table: Any,
        target: str | None = None,
        *,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
        missing_columns: MissingColumns = "warn",
    ) -> Any:
        """P(target | the rest of the row), (N, K) in the order of `states[target]`.

        Parameters
        ----------
        table
            Anything a `Table` can be built from; values may be missing anywhere. The column of the
            target, if there is one, is not looked at.
        target
            None: the posterior of every cell, name → (N, K); what is known has probability 1.
        impossible
            What to do with rows of probability 0: "raise", or "nan".
        unknown
            What to do with labels that the network does not know: "raise", or take as "missing".
        missing_columns
            Variables without a column are missing in every row. "warn" names them, as they may be
            misspelt; "ignore" does not. Hidden variables have no column anyway.
        """
        network = self.require_network()
        skip = () if target is None else (target,)
        rows = self._rows().read(table, unknown, missing_columns, skip)
        if target is not None:
            v = network.index(target)
            found, possible = all_posteriors(network, rows, [v], [v])
        else:
            absent = [v for v, name in enumerate(network.graph.nodes) if name not in rows]
            found, possible = all_posteriors(network, rows, absent, range(len(network.variables)))
        self._rows().check_possible(rows, possible, impossible)
        if target is not None:
            return found[v]
        return {network.variables[v].name: values for v, values in found.items()}

    def predict(self, table: Any, target: str, **choices: Any) -> NDArray[Any]:
        """The most probable state of the target in every row; choices as in `predict_proba`.

        With ``impossible="nan"`` an impossible row has the label "". Of a continuous target the
        mean given the rest of the row.
        """
        if self.gaussian is not None:
            foreign = [name for name in choices if name != "missing_columns"]
            if foreign:
                raise JensenError(f"a Gaussian network predicts without {some(foreign)}")
            return gaussian_rows.predict(self.gaussian, table, target, **choices)
        values = self.predict_proba(table, target, **choices)
        states = np.array([*self.require_network().variables_by_name[target].states, ""])
        lost = np.isnan(values).any(1)
        best = np.where(lost, len(states) - 1, np.nan_to_num(values, nan=-1.0).argmax(1))
        return states[best]

    def impute(
        self,
        table: Any,
        method: Method = "mode",
        *,
        random_state: Any = None,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
        missing_columns: MissingColumns = "warn",
    ) -> Any:
        """The table with missing values filled in, as the kind of dataframe that came in.

        What is known stays as it is. In a column of numbers that the network knows by intervals
        the missing ones become intervals, so the column then holds texts (in pandas numbers and
        texts); `table.read_as(net.variables)` makes intervals of all before.

        Parameters
        ----------
        method
            "mode": the most probable joint completion of each row (of all variables, also those
            that have no column); "marginal": the most probable state of each cell on its own;
            "draw": a joint draw. Of continuous variables the first two are their means.
        random_state
            Of the draws.
        impossible
            What to do with rows of probability 0: "raise", or leave their cells missing ("nan").
        unknown
            What to do with labels that the network does not know: "raise", or fill ("missing").
        missing_columns
            As in `predict_proba`; columns that are not there are not added.
        """
        data = as_table(table)
        lenient = {"impossible": impossible, "unknown": unknown}
        cells = self.filled_cells(
            data, method, random_state=random_state, missing_columns=missing_columns, **lenient
        )
        return put_back(table, data, cells)

    def filled_cells(
        self,
        data: Table,
        method: Method = "mode",
        *,
        random_state: Any = None,
        impossible: Any = "raise",
        unknown: Any = "raise",
        missing_columns: MissingColumns = "warn",
    ) -> dict[str, Filled]:
        """Columns as the network's own variables, before and after `impute`, by name."""
        if self.gaussian is not None:
            return gaussian_rows.impute(self.gaussian, data, method, random_state, missing_columns)
        rows = self._rows().read(data, unknown, missing_columns)
        filled, lost = complete(self.require_network(), rows, method, as_generator(random_state))
        self._rows().check_possible(rows, ~lost, impossible)
        known = [name for name in data.names if name in filled]
        return {name: Filled(rows.column(name), filled.column(name)) for name in known}

    def log_likelihood(
        self, table: Any, *, missing_columns: MissingColumns = "warn"
    ) -> NDArray[np.float64]:
        """Log p(row), what is missing summed out; -inf if impossible or of an unknown state.

        Of unknown states a `DataWarning` tells the first.
        `missing_columns` as in `predict_proba`: without a column a variable is summed out of every
        row, so numbers of tables with different columns do not compare.
        """
        if self.gaussian is not None:
            return gaussian_rows.log_likelihood(self.gaussian, table, missing_columns)
        network = self.require_network()
        rows, strange = self._rows().recode(as_table(table), missing_columns)
        found = log_likelihood(network, rows)
        if strange is not None:
            warn_of_unknown(strange)
            found[strange.rows] = -np.inf
        return found

    def score(
        self, table: Any, y: None = None, *, missing_columns: MissingColumns = "warn"
    ) -> float:
        """Mean log-likelihood per row, by weight; see `jn.score` for the score of a structure.

        `y` is nothing: scikit-learn's pipelines pass it. `missing_columns` as in `log_likelihood`.
        """
        data = as_table(table)
        if data.total_weight == 0:
            raise DataError("the mean over no rows is undefined: the table has no weight")
        each = self.log_likelihood(data, missing_columns=missing_columns)
        weights = np.ones(len(each)) if data.weights is None else data.weights
        return float(np.sum(each[weights > 0] * weights[weights > 0]) / data.total_weight)

    def expected_counts(
        self,
        table: Any,
        families: Sequence[Sequence[str]],
        *,
        missing_columns: MissingColumns = "warn",
    ) -> list[NDArray[np.float64]]:
        """Σ over rows of p(family | what the row knows), an axis per member, for any families."""
        rows = self._rows().read(table, "raise", missing_columns)
        return expected_counts(self.require_network(), rows, families)

    def _rows(self) -> RowReader:
        return RowReader(self.require_network(), getattr(self, "hidden", None) or {})
