"""Mixtures of trees: every component links the columns by a tree of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from jensen.data import as_rows
from jensen.data.model_columns import refuse_unknown
from jensen.data.number_rows import NumberRows
from jensen.data.variable import Variable
from jensen.estimators.arrays import read_weights, weights_of
from jensen.estimators.learning import Problem
from jensen.estimators.mixture_estimator import MixtureKind, mixture_problem
from jensen.estimators.reports import Summary
from jensen.estimators.tree_choices import TreeChoices, make_trees, refuse_kinds
from jensen.estimators.tree_questions import TreeQuestions
from jensen.exceptions import JensenError
from jensen.models.emissions.trees import TreeLabels, joint_tables
from jensen.models.mixture import Mixed, Mixture
from jensen.models.state_model import distinct_rows
from jensen.support.arguments import answers_to
from jensen.support.json_values import Checked

Array = NDArray[np.float64]


class MixtureOfTrees(TreeQuestions):
    """A mixture whose components are trees over the columns, learned with their shapes.

    Given the component, columns depend on each other along the edges of a tree, which is the best
    there is, not one of many that were tried: a spanning tree of largest weight. One component is
    the tree of Chow and Liu.

    Parameters
    ----------
    n_components
        How many trees.
    shared_structure
        Whether all components have the same tree, each with tables of its own.
    method
        "em" (maximum likelihood, or the mode under a prior) or "vbem" (a posterior of trees and
        tables, and a bound of the log evidence). None: "em" without a prior, else "vbem".
    prior
        None: flat. Else a dict of parts; ``prior={}`` takes the default of each:

        - "concentration" of the weights: by default 1 / K; 1 for "em".
        - "equivalent_sample_size": so many imagined rows for each tree, spread evenly over all
          configurations, so that a score does not depend on roots; by default 1.
        - "edges": β, with p(T) ∝ Π β over the edges of a tree: a dict from pairs of names to
          numbers (1 for the others), or a matrix in the order of the sorted names. 0 forbids an
          edge. By default all trees are as probable.
    start
        A fitted `MixtureOfTrees` of the same columns. Two components that are alike are refused,
        for they would never part; without a start all begin with different rows.
    fixed
        What is held at `start`: any of "weights", "components" (all trees and tables).
    n_init, max_iter, tol, accelerate, random_state, progress
        As in `GaussianMixture`.

    Attributes
    ----------
    weights_ : array
        (K,), in falling order unless the start gave components a meaning.
    variables_ : tuple of Variable
        The columns, by name.
    n_components_, free_energy_, is_bound_, trace_, starts_, n_sweeps_, converged_
        As in `GaussianMixture`.

    Notes
    -----
    Values may be missing anywhere. With "vbem" on complete rows q(T) is whole: a distribution over
    all D^(D-2) trees of each component, by the matrix-tree theorem, in O(D³). With missing cells it
    is a point: one tree for each component, that of the highest bound. `edge_probability` tells
    which; answers are those of the most probable trees, with the means of their tables.

    Tables have the density of softmax coordinates, whose mode is the mean: the tree of largest
    probability under a prior does not depend on roots either. What is learned takes K · D² numbers
    of r² each, and a sweep as long as it takes to count pairs of labels other than the first of
    each column.

    References
    ----------
    Meilă and Jordan (2000), *Learning with mixtures of trees*, JMLR 1; Meilă and Jaakkola (2006),
    *Tractable Bayesian learning of tree belief networks*, Statistics and Computing 16.

    Examples
    --------
    >>> import jensen as jn
    >>> same = [["no", "no", "no"], ["yes", "yes", "no"]] * 4
    >>> other = [["no", "yes", "yes"], ["yes", "no", "no"]] * 4
    >>> columns = dict(zip("abc", map(list, zip(*same, *other)), strict=True))
    >>> trees = jn.MixtureOfTrees(2, prior={}, random_state=0).fit(columns)
    >>> trees.graph(0)
    DAG('a -> b; a -> c')
    """

    weights_: Array
    variables_: tuple[Variable, ...]
    choices_kind = TreeChoices

    @answers_to(n_classes="n_components", n_states="n_components", n_trees="n_components")
    def __init__(
        self,
        n_components: int = 2,
        *,
        shared_structure: bool = False,
        method: str | None = None,
        prior: Mapping[str, Any] | None = None,
        start: Any = None,
        fixed: Iterable[str] = (),
        n_init: int = 1,
        max_iter: int = 1000,
        tol: float = 1e-8,
        accelerate: bool = False,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.n_components = n_components
        self.shared_structure = shared_structure
        self.method = method
        self.prior = prior
        self.start = start
        self.fixed = fixed
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.random_state = random_state
        self.progress = progress

    noun = "tree"

    def fit(
        self,
        table: Any,
        y: None = None,
        *,
        validation: Any = None,
        checkpoint: str | Path | None = None,
    ) -> Self:
        """Learn from anything a `Table` can be built from; the weights of rows are the table's.

        Parameters
        ----------
        table
            Values may be missing anywhere.
        y
            Nothing: scikit-learn's pipelines pass it.
        validation
            Other rows, of the same columns. An ascent ends when its score there has not risen for
            five sweeps, and the sweep with the highest score is kept, of all starts: its score is
            `validation_score_`.
        checkpoint
            A file that holds the state of the run: if it is killed, the same call goes on from
            there to the identical result.
        """
        problem = self.problem(table)
        self.validation_score_ = None
        if validation is not None:
            problem = self._judged(problem, validation)
        self._learn(problem, checkpoint)
        if validation is not None:
            self.validation_score_ = self.score(validation)
        return self

    def _judged(self, problem: Problem, validation: Any) -> Problem:
        """The same, where ascents end by their score on other rows."""
        values, unknown = self._read(validation)
        refuse_unknown(unknown, "raise")
        weight = read_weights(weights_of(validation, None), len(values))
        keeps = problem.choices.algorithm.keeps_posterior
        rows, counts = distinct_rows(values, weight)

        def judge(state: Any) -> float:
            fitted: Any = problem.model.finish(state, is_posterior=keeps)
            return float(np.average(fitted.log_likelihood(rows), weights=counts))

        content = (*problem.data.content, "judged by", NumberRows.of(rows, counts))
        return problem._replace(judge=judge, data=problem.data._replace(content=content))

    def problem(self, table: Any) -> Problem:
        """What `fit` learns: the model with its prior, the encoded rows, the choices."""
        rows = as_rows(table)
        refuse_kinds(rows)
        return mixture_problem(self, self._columns_of(rows, counts=False), self._components())

    def _components(self) -> MixtureKind:
        sizes = np.array([variable.n_states for variable in self.variables_], float)
        return MixtureKind(
            [variable.name for variable in self.variables_],
            float(sizes.sum() + (sizes.sum() ** 2 - (sizes**2).sum()) / 2.0),
            self._make,
            prior=("equivalent_sample_size", "edges"),
            content=(
                [(v.name, v.kind, v.states) for v in self.variables_],
                bool(self.shared_structure),
            ),
        )

    def _make(self, K: int, rows: NumberRows, prior_parts: Mapping[str, Any] | None) -> TreeLabels:
        keeps = self._choices_of_loop().algorithm.keeps_posterior
        return make_trees(
            K,
            self.variables_,
            prior_parts,
            is_shared=bool(self.shared_structure),
            is_whole=keeps and not rows.has_gaps,
        )

    def _read_start(self, model: Mixture, rows: NumberRows) -> Mixed:
        """η whose mode is the start."""
        start = self.start
        if not isinstance(start, MixtureOfTrees):
            raise JensenError(f"start must be a fitted MixtureOfTrees, not {start!r:.80}")
        fitted = start.require_fitted()
        if start.variables_ != self.variables_:
            raise JensenError("start= was fitted to other columns than these, or to other labels")
        if fitted.model.n_states != model.n_states:
            raise JensenError(
                f"start= has {fitted.model.n_states} trees, and n_components={model.n_states}"
            )
        share, emission = rows.total_weight * start.weights_, cast(Any, model.emission)
        return Mixed(share, joint_tables(emission, fitted.t.components, share))

    def _show(self) -> None:
        self.weights_ = self._shown()["weights"]

    def _plain(self) -> dict[str, Any]:
        """All that was chosen and learned as plain data."""
        from jensen.estimators.tree_saving import plain_trees

        return plain_trees(self)

    @staticmethod
    def _read_plain(value: Checked) -> MixtureOfTrees:
        """What `_plain` gave."""
        from jensen.estimators.tree_saving import read_trees

        return read_trees(value)

    def _summarise(self) -> Summary:
        """The weights, and the edges of every tree with how much they tell."""
        from jensen.estimators.tree_summary import summarise_trees

        return summarise_trees(self)
