"""What a network can be asked; the fitted network answers, whatever it is made of."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.fill_missing import Filled, put_back
from jensen.data.model_columns import MissingColumns
from jensen.exceptions import DataError, JensenError
from jensen.inference.fitted import FittedNetwork, Method, RowChoices
from jensen.inference.parameter_draws import draw_networks
from jensen.support.checks import check_whole
from jensen.support.randomness import as_generator
from jensen.support.text import option

if TYPE_CHECKING:
    from jensen.inference.fitted import Answer

Given = Mapping[str, Any]


class Questions:
    """Queries, predictions and completions; mixed into an estimator."""

    def require_any(self) -> FittedNetwork:
        """The frozen network, of whatever kind, or an error if there is none yet."""
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

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"cloudy": ["yes", None], "wet_grass": ["yes", "yes"]}
        >>> net = jn.examples.load("sprinkler")
        >>> net.predict_proba(rows, "rain", missing_columns="ignore").round(3)
        array([[0.024, 0.976],
               [0.292, 0.708]])
        """
        choices = self._row_choices(impossible, unknown, missing_columns)
        return self.require_any().predict_proba(as_table(table), target, choices)

    def predict(self, table: Any, target: str, **choices: Any) -> NDArray[Any]:
        """The most probable state of the target in every row; choices as in `predict_proba`.

        With ``impossible="nan"`` an impossible row has the label "". Of a continuous target the
        mean given the rest of the row.
        """
        rows = as_table(table)
        return self.require_any().predict(rows, target, hidden=self._hidden(), **choices)

    def impute(
        self,
        table: Any,
        method: Method = "mode",
        *,
        n: int | None = None,
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
            "draw": a joint draw. Of continuous variables the first two are their means; beside
            labels, those given the labels that were filled in.
        n
            With "draw", a list of n completed tables (multiple imputation): for each the parameters
            are drawn from their posterior, and then the cells, so that the tables differ by all
            that is not known. It needs a posterior, from "vbem" or "gibbs".
        random_state
            Of the draws.
        impossible
            What to do with rows of probability 0: "raise", or leave their cells missing ("nan").
        unknown
            What to do with labels that the network does not know: "raise", or fill ("missing").
        missing_columns
            As in `predict_proba`; columns that are not there are not added.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"rain": ["no", "yes", None, "no"], "wet": ["no", "yes", "yes", None]}
        >>> net = jn.BayesianNetwork("rain -> wet", prior="bdeu", random_state=0).fit(rows)
        >>> net.impute(rows)["rain"].tolist()
        ['no', 'yes', 'yes', 'no']
        >>> len(net.impute(rows, "draw", n=10, random_state=0))
        10
        """
        data = as_table(table)
        choices: dict[str, Any] = {"impossible": impossible, "unknown": unknown}
        choices["missing_columns"] = missing_columns
        if n is None:
            cells = self.filled_cells(data, method, random_state=random_state, **choices)
            return put_back(table, data, cells)
        found = self.drawn_cells(data, n, method, random_state=random_state, **choices)
        return [put_back(table, data, cells) for cells in found]

    def drawn_cells(
        self,
        data: Table,
        n: int,
        method: str = "draw",
        *,
        random_state: Any = None,
        impossible: Any = "raise",
        unknown: Any = "raise",
        missing_columns: MissingColumns = "warn",
    ) -> list[dict[str, Filled]]:
        """What `filled_cells` gives, for n draws of parameters and cells."""
        check_whole("n", n, at_least=1)
        if method != "draw":
            raise JensenError(
                f"n={n} completed tables would all be the same with "
                f"{option('method', method)}: use {option('method', 'draw')}"
            )
        choices = self._row_choices(impossible, unknown, missing_columns)
        rng = as_generator(random_state)
        networks = draw_networks(self.require_any(), n, rng)
        return [network.fill(data, "draw", rng, choices) for network in networks]

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
        choices = self._row_choices(impossible, unknown, missing_columns)
        return self.require_any().fill(data, method, as_generator(random_state), choices)

    def log_likelihood(
        self, table: Any, *, missing_columns: MissingColumns = "warn"
    ) -> NDArray[np.float64]:
        """Log p(row), what is missing summed out, (N,); -inf if impossible or of an unknown state.

        Of unknown states a `DataWarning` tells the first.

        Parameters
        ----------
        table
            Anything a `Table` can be built from; values may be missing anywhere.
        missing_columns
            As in `predict_proba`. A variable without a column is summed out of every row, so
            numbers of tables with different columns do not compare.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"rain": ["yes", None], "wet_grass": ["yes", "yes"]}
        >>> net = jn.examples.load("sprinkler")
        >>> net.log_likelihood(rows, missing_columns="ignore").round(3)
        array([-0.781, -0.435])
        """
        choices = self._row_choices(missing_columns=missing_columns)
        return self.require_any().log_likelihood(as_table(table), choices)

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
        """Σ over rows of weight × p(family | what the row knows), an axis per member.

        Parameters
        ----------
        table
            Anything a `Table` can be built from; values may be missing anywhere.
        families
            Names of the variables of each table, in the order of its axes; they need not be
            families of the graph.
        missing_columns
            As in `predict_proba`.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"cloudy": ["yes", "no"], "rain": ["yes", None]}
        >>> net = jn.examples.load("sprinkler")
        >>> net.expected_counts(rows, [["rain"]], missing_columns="ignore")[0].round(2)
        array([0.8, 1.2])
        """
        choices = self._row_choices(missing_columns=missing_columns)
        return self.require_any().expected_counts(as_table(table), families, choices)

    def _row_choices(
        self,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
        missing_columns: MissingColumns = "warn",
    ) -> RowChoices:
        return RowChoices(impossible, unknown, missing_columns, self._hidden())

    def _hidden(self) -> Collection[str]:
        """Variables that never have a column."""
        return getattr(self, "hidden", None) or ()
