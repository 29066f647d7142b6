"""Tables, networks and what is known of them as HTML, for notebooks.

Text takes the colour of the page and shades are translucent, so that light and dark pages both
work; everything that comes from data is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby, islice, pairwise
from math import isnan, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.table import Table
from jensen.data.variable import Kind, Variable
from jensen.inference.cpt import CPT, TablePosterior
from jensen.inference.distribution import Distribution, Distributions, combinations, heading
from jensen.inference.network import Network
from jensen.plots.markup import escape, show_number, show_share, tag
from jensen.plots.svg import graph_svg
from jensen.support.text import PAGE, columns_of_page, plural

if TYPE_CHECKING:
    from jensen.estimators.bayesian_network import BayesianNetwork

MOST_COLUMNS = 100  # of a table
MOST_ROWS = 60  # of a table of probabilities
PADDING, SHARE_WIDTH = 1, 6  # in characters: of a cell, and of a probability
MOST_STATES = 6  # that are named
OPEN_LIST = 12  # variables up to which the list under a network is open

SPARK_WIDTH, SPARK_HEIGHT = 96.0, 18.0
MOST_BARS = 24
BLUE, PALE = "rgb(76,127,208)", "rgba(128,128,128,.25)"

SHADE = "rgba(76,127,208,{:.2f})"
STYLE = (
    ".jensen-html{font:13px/1.4 system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}"
    ".jensen-html table{border-collapse:collapse;margin:4px 0}"
    ".jensen-html th,.jensen-html td{padding:2px 10px;white-space:nowrap;vertical-align:middle;"
    "border:0 solid rgba(128,128,128,.35);border-bottom-width:1px;text-align:left}"
    ".jensen-html th{font-weight:600}"
    ".jensen-html .jensen-number{text-align:right;font-variant-numeric:tabular-nums}"
    ".jensen-html .jensen-note{opacity:.7}"
    ".jensen-html svg{vertical-align:middle}"
)


def table_html(table: Table) -> str:
    """Describe the columns of a table: kind, states or range, what is missing, how it spreads.

    Examples
    --------
    >>> import jensen as jn
    >>> "1 (33%)" in table_html(jn.Table({"rain": ["no", "yes", None]}))
    True
    """
    missing = table.n_missing(table.names[:MOST_COLUMNS])
    rows = []
    for v in table.variables[:MOST_COLUMNS]:
        lost = missing.get(v.name, 0)
        share = f"{lost:,} ({lost / table.n_rows:.0%})" if lost else ""
        spread, picture = histogram(table.column(v.name), table.weights)
        shown = _states(v) if v.kind == "categorical" else spread
        rows.append(
            [_cell(v.name), _cell(v.kind), _cell(shown), _number(share), tag("td", picture)]
        )
    head = [*map(_head, ("column", "kind", "values")), _head("missing", is_number=True), _head("")]
    title = f"{plural(table.n_rows, 'row')}, {plural(len(table.names), 'column')}"
    if table.weights is not None:
        title += f", total weight {table.total_weight:g}"
    more = len(table.names) - len(rows)
    return _page(_note(title), _grid([head], rows), _more(more, "column"))


def cpt_html(cpt: CPT) -> str:
    """Show P(variable | parents): a row per configuration of the parents, cells by probability.

    Examples
    --------
    >>> import jensen as jn
    >>> html = cpt_html(jn.examples.load("sprinkler").cpt("wet_grass"))
    >>> "P(wet_grass | rain, sprinkler)" in html and html.count("<td") == 4 * 2 + 2 + 4
    True
    """
    names = [parent.name for parent in cpt.parents]
    kept = _n_fitting(cpt.variable.states, names)
    states = [_head(state, is_number=True) for state in cpt.variable.states[:kept]]
    n_rows = cpt.values.size // cpt.variable.n_states
    shown = min(n_rows, MOST_ROWS)
    labels = _merged([labels for (labels, _), _ in zip(cpt.rows(), range(shown), strict=False)])
    rows = []
    for cells, (_, row) in zip(labels, cpt.rows(), strict=False):
        rows.append([*cells, *(_probability(float(p)) for p in row[:kept])])
    title = _note(_conditional(cpt.variable, cpt.parents))
    more = _more(n_rows - shown, "row") + _more(cpt.variable.n_states - kept, "column")
    return _page(title, _grid([[*map(_head, names), *states]], rows), more)


def posterior_html(posterior: TablePosterior) -> str:
    """Show the posterior of P(variable | parents): means with their 90 % intervals as bars.

    Examples
    --------
    >>> import jensen as jn
    >>> net = jn.BayesianNetwork("x", prior=1.0).fit({"x": ["no", "yes", "yes"]})
    >>> "0.0976 to 0.751" in posterior_html(net.posterior("x"))
    True
    """
    states = posterior.variable.states
    low, high = (side.ravel() for side in posterior.interval(0.9))
    mean, weight = posterior.mean.ravel(), posterior.concentration.ravel()
    configurations = [
        (*labels, state) for labels, _ in posterior.predictive.rows() for state in states
    ]
    shown = min(len(configurations), MOST_ROWS)
    rows = []
    for k, cells in enumerate(_merged(configurations[:shown])):
        span = f"{show_share(low[k])} to {show_share(high[k])}"
        bar = interval_bar(float(mean[k]), float(low[k]), float(high[k]))
        numbers = [show_share(mean[k]), span, show_number(weight[k])]
        rows.append([*cells, *map(_number, numbers[:2]), tag("td", bar), _number(numbers[2])])
    names = [*(parent.name for parent in posterior.parents), "state"]
    head = [
        *map(_head, names),
        _head("mean", is_number=True),
        _head("90 % interval", is_number=True),
        _head(""),
        _head("concentration", is_number=True),
    ]
    title = _note(f"posterior of {_conditional(posterior.variable, posterior.parents)}")
    return _page(title, _grid([head], rows), _more(len(configurations) - shown, "row"))


def distribution_html(distribution: Distribution) -> str:
    """Show P(variables | ...): a bar per state or combination of states, or its interval.

    Examples
    --------
    >>> import jensen as jn
    >>> import numpy as np
    >>> rain = jn.Variable("rain", "categorical", ("no", "yes"))
    >>> html = distribution_html(Distribution((rain,), np.array([0.75, 0.25]), "wet=yes"))
    >>> "P(rain | wet=yes)" in html and html.count("<svg") == 2
    True
    """
    p, interval = distribution.values.ravel(), distribution.interval
    shown = min(len(distribution), MOST_ROWS)
    head = [*map(_head, distribution.names), _head("probability", is_number=True)]
    rows = _merged(list(islice(combinations(distribution.variables), shown)))
    if interval is None:
        for k, row in enumerate(rows):
            row += [_number(show_share(p[k])), tag("td", _bar(float(p[k])))]
    else:
        head.append(_head(f"{interval.percent} interval", is_number=True))
        low, high = interval.lower.ravel(), interval.upper.ravel()
        for k, row in enumerate(rows):
            span = f"{show_share(low[k])} to {show_share(high[k])}"
            bar = interval_bar(float(p[k]), float(low[k]), float(high[k]))
            row += [_number(show_share(p[k])), _number(span), tag("td", bar)]
    title = _note(heading(distribution.variables, distribution.condition))
    more = _more(len(distribution) - shown, "row")
    return _page(title, _grid([[*head, _head("")]], rows), more)


def distributions_html(distributions: Distributions) -> str:
    """Show P(variables | row) for the first rows of evidence, cells by probability.

    Examples
    --------
    >>> import jensen as jn
    >>> import numpy as np
    >>> rain = jn.Variable("rain", "categorical", ("no", "yes"))
    >>> html = distributions_html(Distributions((rain,), np.array([[0.75, 0.25], [0.5, 0.5]])))
    >>> "P(rain) for 2 rows of evidence" in html and html.count("<td") == 2 * 3
    True
    """
    variables = distributions.variables
    n_rows, n_columns = len(distributions), prod(v.n_states for v in variables)
    names = list(map(", ".join, islice(combinations(variables), MOST_COLUMNS)))
    kept = _n_fitting(names, ["row"])
    head = [_head("row"), *(_head(name, is_number=True) for name in names[:kept])]
    rows = [
        [_cell(str(k)), *(_probability(float(p)) for p in row.flat[:kept])]
        for k, row in enumerate(distributions.values[:MOST_ROWS])
    ]
    title = _note(f"{heading(variables)} for {plural(n_rows, 'row')} of evidence")
    more = _more(n_rows - len(rows), "row") + _more(n_columns - kept, "column")
    return _page(title, _grid([head], rows), more)


def network_html(net: Network | BayesianNetwork) -> str:
    """Draw a network, with a list of its variables under it.

    Examples
    --------
    >>> import jensen as jn
    >>> html = network_html(jn.examples.load("asia"))
    >>> "8 variables, 8 edges, 18 free parameters" in html
    True
    """
    network = net if isinstance(net, Network) else net.require_network()
    rows = []
    for v in network.variables:
        parents = network.parents(v.name)
        n_free = (v.n_states - 1) * network.part(v.name, network.tables).size // v.n_states
        given = ", ".join(parent.name for parent in parents)
        rows.append([_cell(v.name), _cell(_states(v)), _cell(given), _number(f"{n_free:,}")])
    head = [*map(_head, ("variable", "states", "parents"))]
    head.append(_head("free parameters", is_number=True))
    sizes = (
        f"{plural(len(network.variables), 'variable')}, "
        f"{plural(len(network.graph.edges), 'edge')}, "
        f"{plural(network.n_parameters, 'free parameter')}"
    )
    listing = tag("summary", escape(sizes)) + _grid([head], rows)
    is_open = " open" if len(rows) <= OPEN_LIST else ""
    return _page(graph_svg(network.graph), f"<details{is_open}>{listing}</details>")


def _n_fitting(columns: Sequence[str], before: Sequence[str]) -> int:
    """How many columns of probabilities a page has room for, beside others."""
    widths = [len(name) + PADDING for name in before]
    widths += [max(len(name), SHARE_WIDTH) + PADDING for name in columns]
    return columns_of_page(widths, len(before), PAGE) - len(before)


def _page(*parts: str) -> str:
    return tag("div", tag("style", STYLE), *parts, class_="jensen-html")


def _grid(head: Iterable[Iterable[str]], rows: Iterable[Iterable[str]]) -> str:
    above, below = ("".join(tag("tr", *row) for row in part) for part in (head, rows))
    return tag("table", tag("thead", above), tag("tbody", below) if below else "")


def _merged(labels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Cells for the labels of each row; a label that is repeated below spans its rows."""
    cells: list[list[str]] = [[] for _ in labels]
    for depth in range(len(labels[0]) if labels else 0):
        start = 0
        for _, alike in groupby(tuple(row[: depth + 1]) for row in labels):
            size = len(list(alike))
            cells[start].append(tag("td", escape(labels[start][depth]), rowspan=size))
            start += size
    return cells


def _probability(p: float) -> str:
    shade = SHADE.format(0.6 * p)
    text = show_share(p)
    return tag("td", text, class_="jensen-number", style=f"background:{shade}", title=f"{p:.6g}")


def _bar(p: float) -> str:
    """A bar as long as a probability, on a track from 0 to 1; nothing where it is undefined."""
    if isnan(p):
        return ""
    shape = {"x": 0, "y": 3.0, "height": SPARK_HEIGHT - 6, "rx": 2}
    track = tag("rect", width=SPARK_WIDTH, fill=PALE, **shape)
    bar = tag("rect", width=SPARK_WIDTH * p, fill=BLUE, **shape)
    return tag("svg", track, bar, width=SPARK_WIDTH, height=SPARK_HEIGHT)


def _states(v: Variable) -> str:
    more = f", … ({v.n_states})" if v.n_states > MOST_STATES else ""
    return ", ".join(v.states[:MOST_STATES]) + more


def _conditional(variable: Variable, parents: Sequence[Variable]) -> str:
    given = ", ".join(parent.name for parent in parents)
    return f"P({variable.name}{' | ' if given else ''}{given})"


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _number(text: str) -> str:
    return f'<td class="jensen-number">{escape(text)}</td>'


def _head(text: str, *, is_number: bool = False) -> str:
    kind = ' class="jensen-number"' if is_number else ""
    return f"<th{kind}>{escape(text)}</th>"


def _note(text: str) -> str:
    return tag("div", escape(text), class_="jensen-note")


def _more(n: int, noun: str) -> str:
    return _note(f"… and {plural(n, noun)} more") if n > 0 else ""


# --- sparklines: histograms of columns and intervals, each as small as a word ---


def histogram(column: Column, weights: NDArray[np.float64] | None) -> tuple[str, str]:
    """The range of a column as text, and its histogram as SVG; "" if the column is empty."""
    known = ~column.missing()
    if column.variable.kind == "categorical":
        labels, heights = _by_state(column, known, weights)
        return "", _bars(labels, heights)
    known &= np.isfinite(column.data)
    values = np.asarray(column.data[known], np.float64)
    if not len(values):
        return "", ""
    share = None if weights is None else weights[known]
    heights, edges = np.histogram(values, _edges(values, column.variable.kind), weights=share)
    labels = [f"{show_number(a)} to {show_number(b)}" for a, b in pairwise(edges)]
    return f"{show_number(values.min())} to {show_number(values.max())}", _bars(labels, heights)


def _by_state(
    column: Column, known: NDArray[np.bool_], weights: NDArray[np.float64] | None
) -> tuple[list[str], NDArray[np.float64]]:
    """How often each state occurs; of many states the most frequent ones."""
    states = column.variable.states
    share = None if weights is None else weights[known]
    codes = np.asarray(column.data[known], np.int64)
    heights = np.bincount(codes, share, minlength=len(states)).astype(np.float64)
    if len(states) <= MOST_BARS:
        return list(states), heights
    most = np.argsort(-heights, kind="stable")[:MOST_BARS]
    return [states[k] for k in most], heights[most]


def _edges(values: NDArray[np.float64], kind: Kind) -> NDArray[np.float64]:
    """The edges of the bins; bins of counts hold equally many whole numbers."""
    low, high = float(values.min()), float(values.max())
    if kind == "count":
        step = max(math.ceil((high - low + 1) / MOST_BARS), 1)
        return np.arange(low, high + step + 1, step) - 0.5
    return np.histogram_bin_edges(values, MOST_BARS)


def _bars(labels: list[str], heights: NDArray[np.float64]) -> str:
    top = float(heights.max()) if len(heights) else 0.0
    if top <= 0:
        return ""
    step = SPARK_WIDTH / max(len(heights), 6)
    bars = [
        tag(
            "rect",
            tag("title", escape(f"{label}: {height:g}")),
            x=k * step,
            y=SPARK_HEIGHT * (1 - height / top),
            width=step - 1,
            height=SPARK_HEIGHT * height / top,
        )
        for k, (label, height) in enumerate(zip(labels, heights, strict=True))
    ]
    return tag("svg", *bars, width=SPARK_WIDTH, height=SPARK_HEIGHT, fill=BLUE)


def interval_bar(mean: float, low: float, high: float) -> str:
    """A line from 0 to 1, the interval on it, and a mark at the mean."""
    middle = SPARK_HEIGHT / 2
    line = tag("rect", x=0, y=middle - 1, width=SPARK_WIDTH, height=2, fill=PALE)
    span = tag(
        "rect",
        x=SPARK_WIDTH * low,
        y=middle - 4,
        width=max(SPARK_WIDTH * (high - low), 1.0),
        height=8,
        rx=2,
        fill=BLUE,
        opacity="0.45",
    )
    mark = tag("rect", x=SPARK_WIDTH * mean - 1, y=middle - 6, width=2, height=12, fill=BLUE)
    return tag("svg", line, span, mark, width=SPARK_WIDTH, height=SPARK_HEIGHT)
