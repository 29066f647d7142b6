"""What a network can be asked of the rows of a table: predictions, completions, likelihoods."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from jensen.data import Table, as_table
from jensen.data.answers import of_states, write_answers
from jensen.data.fill_missing import Filled, put_back
from jensen.data.model_columns import MissingColumns
from jensen.exceptions import DataError, JensenError
from jensen.inference.drawn_networks import draw_networks
from jensen.inference.fitted import FittedNetwork, Method, RowChoices
from jensen.support.arguments import as_generator, check_whole
from jensen.support.text import option

Array = NDArray[np.float64]


class RowQuestions:
    """Questions that have an answer for every row; what a row misses is summed out."""

    def require_any(self) -> FittedNetwork:
        """The frozen network, of whatever kind, or an error if there is none yet."""
        raise NotImplementedError

    def predict_proba(
        self,
        table: Any,
        target: str | None = None,
        *,
        impossible: Literal["raise", "nan"] = "raise",
        unknown: Literal["raise", "missing"] = "raise",
        missing_columns: MissingColumns = "warn",
        inference: str = "exact",
        out: str | PathLike[str] | None = None,
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
        inference
            As in `query`: row by row, and the array says in its `label` what its numbers are.
        out
            A CSV, TSV or Parquet file for the answers, which are then asked block by block, so that
            a scan of more rows than memory (`jn.scan_table`) will do; its path is returned. Here a
            column P(target=state) for each state.

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
        network, asked = self.require_any(), self._asked(inference)
        if out is None:
            return asked.predict_proba(as_table(table), target, choices)

        def ask(rows: Table) -> dict[str, Any]:
            found = asked.predict_proba(rows, target, choices)
            each = found if target is None else {target: found}
            states = {name: network.variables[network.index(name)].states for name in each}
            return {
                column: values
                for name, one in each.items()
                for column, values in of_states(name, one, states[name]).items()
            }

        return write_answers(table, out, ask)

    def predict(
        self,
        table: Any,
        target: str,
        *,
        out: str | PathLike[str] | None = None,
        inference: str = "exact",
        **choices: Any,
    ) -> Any:
        """The most probable state of the target in every row; choices as in `predict_proba`.

        With ``impossible="nan"`` an impossible row has the label "". Of a continuous target the
        mean given the rest of the row. With `out` they are the column predicted_TARGET of a file.
        """
        if out is not None:

            def ask(rows: Table) -> dict[str, Any]:
                return {
                    f"predicted_{target}": self.predict(
                        rows, target, inference=inference, **choices
                    )
                }

            return write_answers(table, out, ask)
        rows = as_table(table)
        asked = self._asked(inference)
        found: NDArray[Any] = asked.predict(rows, target, hidden=self._hidden(), **choices)
        return found

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
        out: str | PathLike[str] | None = None,
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
        out
            A file for the filled table, written block by block, as in `predict_proba`. Draws then
            differ from those without it, but not with the source of the rows.

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
        choices: dict[str, Any] = {"impossible": impossible, "unknown": unknown}
        choices["missing_columns"] = missing_columns
        if out is not None:
            if n is not None:
                raise JensenError(
                    "n completed tables do not go into one file: leave out n, and ask for one at a "
                    "time, each with a random_state of its own"
                )
            rng = as_generator(random_state)

            def ask(rows: Table) -> Table:
                cells = self.filled_cells(rows, method, random_state=rng, **choices)
                filled: Table = put_back(rows, rows, cells)
                return filled

            return write_answers(table, out, ask)
        data = as_table(table)
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
        self,
        table: Any,
        *,
        missing_columns: MissingColumns = "warn",
        inference: str = "exact",
        out: str | PathLike[str] | None = None,
    ) -> Any:
        """Log p(row), what is missing summed out, (N,); -inf if impossible or of an unknown state.

        Of unknown states a `DataWarning` tells the first.

        Parameters
        ----------
        table
            Anything a `Table` can be built from; values may be missing anywhere.
        missing_columns
            As in `predict_proba`. A variable without a column is summed out of every row, so
            numbers of tables with different columns do not compare.
        inference
            As in `query`: row by row, and the array says in its `label` what its numbers are.
        out
            A file for the column log_likelihood, written block by block, as in `predict_proba`.

        Examples
        --------
        >>> import jensen as jn
        >>> rows = {"rain": ["yes", None], "wet_grass": ["yes", "yes"]}
        >>> net = jn.examples.load("sprinkler")
        >>> net.log_likelihood(rows, missing_columns="ignore").round(3)
        array([-0.781, -0.435])
        """
        choices = self._row_choices(missing_columns=missing_columns)
        asked = self._asked(inference)
        if out is None:
            return asked.log_likelihood(as_table(table), choices)

        def ask(rows: Table) -> dict[str, Any]:
            return {"log_likelihood": asked.log_likelihood(rows, choices)}

        return write_answers(table, out, ask)

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

    def _asked(self, inference: str) -> Any:
        """What answers in this way: the network itself, exactly, or approximately."""
        if inference == "exact":
            return self.require_any()
        from jensen.inference.approximate.answers import Approximate

        return Approximate(self.require_any(), inference)

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
