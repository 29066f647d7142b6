"""Learning a graph from data, by the name of the method."""

import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from jensen.data import RowSource, Variable, as_rows, as_table
from jensen.data import discretize as cut_numbers
from jensen.exceptions import JensenError
from jensen.graphs import DAG, PDAG
from jensen.q_graph import methods
from jensen.q_graph.classes.rules import check_table, with_known_directions
from jensen.q_graph.constraints import add_prior, read_rules, without_edges_at
from jensen.q_graph.info import StructureInfo
from jensen.q_graph.learned_columns import learned_columns
from jensen.q_graph.method_choices import (
    TESTED,
    Completion,
    Method,
    MissingValues,
)
from jensen.q_graph.methods import check_choices, check_missing, needs_structural_em
from jensen.q_graph.search import climbing
from jensen.q_graph.structural.learning import average_scorer, learn_incomplete
from jensen.scores.listed_scores import LocalScores
from jensen.scores.make_scorer import make_scorer
from jensen.scores.scorer import (
    Scorer,
    isolated,
    log_jacobian_of_units,
    name_of,
    unitless,
)
from jensen.scores.table_checks import are_drawn, note_columns
from jensen.support.arguments import as_generator, check_whole, is_real
from jensen.support.machine import STREAM, check_many
from jensen.support.text import bare, keyword, some

log = logging.getLogger("jensen")


def learn_structure(
    table: Any = None,
    method: Method = "hill-climb",
    score: str | None = None,
    *,
    prior: Any = None,
    equivalent_sample_size: float | None = None,
    max_parents: int | None = None,
    required: Any = (),
    forbidden: Any = (),
    tiers: Iterable[Iterable[str]] | None = None,
    start: Any = None,
    restarts: int = 0,
    tabu_length: int | None = None,
    random_state: Any = None,
    interventions: Any = None,
    missing: MissingValues = "structural-em",
    hidden: Mapping[str, Any] | None = None,
    completion: Completion | None = None,
    missing_indicators: bool = False,
    prior_network: Any = None,
    discretize: Mapping[str, int] | None = None,
    scores: Any = None,
    test: str | None = None,
    alpha: float | None = None,
    max_given: int | None = None,
    permutations: int | None = None,
    correction: str | None = None,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    progress: bool = False,
    **gaussian: Any,
) -> DAG | PDAG:
    """Learn the graph that explains the data best.

    Parameters
    ----------
    table
        Anything a `Table` can be built from. The order of its columns decides between equal moves
        in one climb of greedy searches alone, so it changes nothing but a graph that this climb
        makes better. Columns of labels and of numbers make a conditional linear Gaussian network:
        labels have no numbers among their parents, and arrows from labels to numbers are a
        convention, not learned. Whole numbers with more than 20 different values are numbers.
        Columns that name or number the rows (identifiers, dates, free text) are left out, with a
        warning, unless the table declares their kind or another argument names them.
    method
        "hill-climb": adds, drops or turns the edge that gains most, until nothing gains, three
        times; then again from the best graph that can be combined of all families scored so far.
        It is never worse than plain greedy search (R's `hc`) in the order of the columns, nor in
        that of the names. "tabu": hill climbing, and then further moves, even if they lose, that do
        not undo the last ones; never worse than hill climbing from the same start, nor than plain
        tabu search.
        "ges": greedy search over Markov equivalence classes, never worse than hill climbing;
        "exact": the optimum of the score, proven, by dynamic programming for up to 24 variables
        (seconds for 20, a minute and 2 GiB for 24, half of both for one fewer), and by integer
        programming (extra `exact`; with `max_parents` of about 3) beyond, or where that memory
        is not allowed; "pc": tests of independence (PC-stable); "mmhc": tests choose the
        neighbours, hill climbing the edges.
    score
        As in `jensen.score`; by default "bdeu" for categorical and "bge" for continuous columns,
        "bdeu-bge" for both together.
        The units of continuous columns change nothing; a constant one has no edges, and a warning
        names it.
    prior
        The prior of graphs, as in `jensen.score`: the search maximises the score plus the log
        prior. Edges of probability 1 are required, edges of probability 0 forbidden. "ges" needs a
        prior under which both directions of an edge are equally probable; "pc" takes no prior.
    equivalent_sample_size, prior_network, **gaussian
        As in `jensen.score`.
    missing
        What is done where values are missing; a complete table is learned from as it is.
        "structural-em": every row is completed in all ways, each with its probability under the
        best network so far, and the graph is searched on these expected counts, or on the expected
        moments of numbers; then the network is fitted again, and so on. With score="bic" this
        climbs the log-likelihood of what was observed less the penalty, with "bdeu", "bge" or
        "bdeu-bge" a lower bound of its log probability; neither ever falls. Several starts are
        tried. Values are taken to be missing at random: whether one is missing may depend on what
        was observed, but not on the value itself.
        "node-average": the likelihood of a family is averaged over the rows that show all of it,
        less a penalty that falls more slowly than that of BIC, which is too small for it. It is
        quick, and consistent if values are missing completely at random only; equivalent graphs
        score differently.
        "available-case": as in `jensen.score`. Edges appear between independent variables, the
        more the more is missing, and more rows do not help. "refuse": an error.
    hidden
        Variables without a column: name → number of states, or their labels. Each is a parent of
        all other variables where searches start, and of none in one of them, so that it may end
        without edges. Even there it costs the bound some ½ log N, so several may end with edges
        that say nothing: compare `info.score` with that of fewer.
    completion
        For "structural-em": how rows are completed for the search. "exact" (default): in all ways;
        where these are too many they are drawn, but a graph is taken only if the exact objective
        does not fall. "map": in all ways at the mean of the parameters, as in Friedman's Bayesian
        structural EM, for scores with a prior. "draw": ten draws a row; "mode": the most probable
        labels, and numbers at their means given these. The last three are no ascents.
    missing_indicators
        Add a variable "X missing" for every column X with holes. It may depend on all others, and
        no other variable on it: for values that are not missing at random. It is a label; in a
        table of numbers alone it is the number 0 or 1, so that numbers may be its parents.
    max_parents
        The most parents that a variable may have.
    required, forbidden
        Edges that must or must not be there: pairs (from, to), or a text like "A -> B; C -> D".
    tiers
        Lists of variables in time, two at least: no edge leads from a later list to an earlier one.
        A variable that stands in none may have any edge. Labels stand before numbers, for a network
        of both has no edge from a number to a label; by `tiers=()` "pc" directs these edges freely.
    start
        The graph that a search begins with; by default the required edges alone.
    restarts
        The number of restarts of a search. Each begins at the best graph so far after as many
        random changes as that graph has edges. Structural EM makes five by itself, or more
        where rows and variables are few, and these besides; there the graph loses a share of its
        edges instead.
    tabu_length
        For "tabu": the search ends after this many moves without a better graph; 100 by default.
        Without restarts a larger number never leads to a worse graph. Turns that change nothing do
        not count.
    random_state
        The random numbers of restarts, of permutations and of the starts of structural EM.
    interventions
        The name of a column (which is then no variable), or one entry per row: the name of the
        variable that was set from outside in that row, or nothing. Such rows are left out of the
        family of that variable.
    discretize
        Columns of numbers that are made labels first, name → number of intervals of about equal
        frequency, as `jensen.discretize` makes them: for edges from these columns to labels. The
        cut points are in `info.cuts`.
    scores
        Instead of a table: a file of local scores (.jkl), or the result of
        `jensen.read_local_scores`.
    test, alpha, max_given, permutations, correction
        For "pc" and "mmhc": as in `jensen.independent` (alpha is 0.05 by default); the most
        variables in the condition of a test; and for "pc" the correction for multiple tests,
        "bonferroni" or "fdr".
    time_limit
        For "exact": seconds after which the best graph so far is returned. Its `info.gap` tells how
        much higher another graph may score; it is infinite if no bound is known yet.
    checkpoint
        For "structural-em": a file to which every finished climb is written, and the last fit, and
        from which a run that was stopped resumes to the identical result.
    progress
        Show the score, and the moves or the gap, while it runs. Ctrl-C ends every method with the
        best graph so far.

    Returns
    -------
    DAG, CPDAG or PDAG
        A `DAG` from searches and "exact", a `CPDAG` from "ges" and "pc"; a `PDAG` where constraints
        direct more edges than the class does, or where tests of "pc" contradict each other. Its
        `info` tells the score and its trace, the numbers of moves and of scored families, the time,
        and whether the graph is proven to be optimal; for tests, the tests that were made; of
        incomplete rows what the score is, how rows were completed, and where each start ended;
        `info.notes`, what to know when the graph is read.

    Examples
    --------
    >>> import jensen as jn
    >>> table = jn.examples.load("asia").sample(2000, random_state=0)
    >>> dag = jn.learn_structure(table, score="bic", tiers=[["asia", "smoke"], ["lung", "tub"]])
    >>> dag.info.proven, abs(dag.info.score - jn.score(dag, table, "bic")) < 1e-6
    (False, True)
    >>> jn.learn_structure(table, "pc", alpha=0.01).skeleton() == dag.skeleton()
    False
    """
    check_whole("restarts", restarts, at_least=0)
    check_many(restarts, STREAM, "restarts", "choose fewer")
    if tabu_length is not None:
        check_whole("tabu_length", tabu_length, at_least=0)
        check_many(tabu_length, 40.0, "moves without a better graph (tabu_length)", "choose fewer")
    if time_limit is not None and not (is_real(time_limit) and time_limit > 0):
        raise JensenError(
            f"{bare('time_limit')} must be a number of seconds above 0, not {time_limit!r}"
        )
    only = {"hidden": hidden, "completion": completion, "missing_indicators": missing_indicators}
    check_missing(missing, only, has_table=scores is None)
    rules = {"required": required, "forbidden": forbidden}
    if tiers is not None:
        rules["tiers"] = tiers
    chosen = check_choices(
        method,
        {
            "score": score,
            "prior": prior,
            "equivalent_sample_size": equivalent_sample_size,
            "prior_network": prior_network,
            "missing": None if missing == "structural-em" else missing,
            **{name: value or None for name, value in only.items()},
            "interventions": interventions,
            "scores": scores,
            "max_parents": max_parents,
            "start": start,
            "restarts": restarts or None,
            "tabu_length": tabu_length,
            "test": test,
            "alpha": alpha,
            "max_given": max_given,
            "permutations": permutations,
            "correction": correction,
            "time_limit": time_limit,
            "checkpoint": checkpoint,
        },
    )
    table, cuts = cut_columns(table, discretize)
    if table is not None and scores is None:
        beside = {"discretize": discretize, "prior_network": prior_network}
        table, found = learned_columns(as_rows(table), {**chosen, **rules, **beside})
        rules = {name: found[name] for name in rules}
    if method in TESTED:
        choices = {**chosen, **rules, **gaussian}
        return _tell(_by_tests(method, table, choices, random_state, progress), cuts)
    others = {"method": method, "random_state": random_state, "progress": progress}
    if missing == "structural-em" and table is not None and scores is None:
        given = {**chosen, **rules, **gaussian, **others}
        if needs_structural_em(table, given):
            return _tell(learn_incomplete(table, given), cuts)
    if checkpoint is not None:
        raise JensenError(
            f"{keyword('checkpoint')} keeps the climbs of structural EM, and there is nothing "
            f"missing or hidden here: leave it out"
        )
    return _tell(_by_scores(table, {**chosen, **others}, rules, gaussian), cuts)


def cut_columns(
    table: Any, discretize: Mapping[str, int] | None
) -> tuple[Any, dict[str, tuple[float, ...]]]:
    """The table with labels in place of some columns of numbers, and their cut points."""
    if discretize is None:
        return table, {}
    if not isinstance(discretize, Mapping):
        raise JensenError(
            f"{bare('discretize')} says how many intervals columns have, {{'age': 4}}, and is not "
            f"{discretize!r:.80}"
        )
    if table is None:
        raise JensenError(f"{keyword('discretize')} belongs to a table: scores= says it all")
    data = cut_numbers(table, bins=discretize, columns=list(discretize))
    cuts = {name: data.variable(name).cuts or () for name in discretize}
    for name, points in cuts.items() if not are_drawn() else ():
        log.info(f"{name!r} is cut at {some(points, most=20)}")
    return data, cuts


def _tell(found: DAG | PDAG, cuts: Mapping[str, tuple[float, ...]]) -> DAG | PDAG:
    """A graph whose info tells the cut points of columns that were made labels."""
    return found.with_info(replace(found.info, cuts=cuts)) if cuts else found


def _by_scores(
    table: Any, chosen: Mapping[str, Any], rules: Mapping[str, Any], gaussian: Mapping[str, Any]
) -> DAG | PDAG:
    """The graph that the method finds by the scores of families."""
    began, method = time.perf_counter(), chosen["method"]
    if method == "ges" and table is not None:
        table = as_table(table)
        check_table(table, chosen.get("missing"))
    table = None if table is None else as_rows(table)
    of_score = ("equivalent_sample_size", "prior_network", "missing", "interventions")
    given = {name: chosen[name] for name in of_score if name in chosen} | {**gaussian}
    scorer, score_name = _scorer(table, chosen.get("scores"), chosen.get("score"), given)
    given_rules, start = read_rules(scorer, chosen.get("max_parents"), **rules), chosen.get("start")
    if start is not None and isolated(scorer):
        start = without_edges_at(start, {scorer.names[v] for v in isolated(scorer)})
    scorer, constraints = add_prior(chosen.get("prior"), scorer, given_rules)
    streams = as_generator(chosen["random_state"]).spawn(chosen.get("restarts", 0))
    length = chosen.get("tabu_length", climbing.TABU_LENGTH)
    task = methods.SearchTask(
        scorer, constraints, start, streams, chosen["progress"], length,
        order=None if table is None else _order_of(table.names, scorer.names),
    )  # fmt: skip
    found = methods.find_graph(method, task, chosen.get("time_limit"))
    constant = log_jacobian_of_units(scorer)
    found = found._replace(score=found.score + constant, trace=found.trace + constant)
    notes = () if table is None else note_columns(_variables(table, chosen.get("interventions")))
    seconds = time.perf_counter() - began
    info = StructureInfo(method, score_name, *found[1:], seconds, notes=notes)
    if method == "ges":
        return with_known_directions(found.joined, scorer.names, constraints).with_info(info)
    return DAG.from_adjacency(found.joined, scorer.names).with_info(info)


def _order_of(columns: Sequence[str], names: Sequence[str]) -> list[int] | None:
    """The places of columns among the sorted names; None if they stand in that order."""
    place = {name: k for k, name in enumerate(names)}
    order = [place[name] for name in columns if name in place]
    return None if order == sorted(order) else order


def _variables(table: RowSource, beside: Any) -> list[Variable]:
    """The variables of a table, without the column that says which of them was set."""
    return [v for v in table.variables if not (isinstance(beside, str) and v.name == beside)]


def _by_tests(
    method: str, table: Any, chosen: Mapping[str, Any], random_state: Any, progress: bool
) -> PDAG | DAG:
    from jensen.independence.mmhc import mmhc
    from jensen.independence.pc import pc

    if table is None:
        raise JensenError(f"method={method!r} makes tests, so it needs a table")
    learn = pc if method == "pc" else mmhc
    return learn(table, **chosen, random_state=random_state, progress=progress)


def _scorer(
    table: Any, scores: Any, score: str | None, choices: Mapping[str, Any]
) -> tuple[Scorer, str]:
    """The scorer, and the name of its score."""
    if (table is None) == (scores is None):
        raise JensenError("give a table, or scores= of local scores that are known already")
    if table is None:
        from jensen.io.jkl import read_local_scores

        given = sorted(choices) if score is None else ["score", *sorted(choices)]
        if given:
            raise JensenError(f"{', '.join(given)}= belongs to a table: scores= says it all")
        listed = scores if isinstance(scores, LocalScores) else read_local_scores(scores)
        return listed, name_of(listed)
    if choices.get("missing") == "node-average":
        return average_scorer(table, score, choices), "node-average"
    scorer = unitless(make_scorer(table, score, **choices))
    return scorer, name_of(scorer)
