"""Sparklines: histograms of columns and intervals, each as small as a word."""

import math
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from jensen.data.encode import Column
from jensen.data.variable import Kind
from jensen.plots.markup import escape, tag

WIDTH, HEIGHT = 96.0, 18.0
MOST_BARS = 24
BLUE, PALE = "rgb(76,127,208)", "rgba(128,128,128,.25)"


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
    labels = [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]
    return f"{values.min():.4g} to {values.max():.4g}", _bars(labels, heights)


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
    step = WIDTH / max(len(heights), 6)
    bars = [
        tag(
            "rect",
            tag("title", escape(f"{label}: {height:g}")),
            x=k * step,
            y=HEIGHT * (1 - height / top),
            width=step - 1,
            height=HEIGHT * height / top,
        )
        for k, (label, height) in enumerate(zip(labels, heights, strict=True))
    ]
    return tag("svg", *bars, width=WIDTH, height=HEIGHT, fill=BLUE)


def interval_bar(mean: float, low: float, high: float) -> str:
    """A line from 0 to 1, the interval on it, and a mark at the mean."""
    middle = HEIGHT / 2
    line = tag("rect", x=0, y=middle - 1, width=WIDTH, height=2, fill=PALE)
    span = tag(
        "rect",
        x=WIDTH * low,
        y=middle - 4,
        width=max(WIDTH * (high - low), 1.0),
        height=8,
        rx=2,
        fill=BLUE,
        opacity="0.45",
    )
    mark = tag("rect", x=WIDTH * mean - 1, y=middle - 6, width=2, height=12, fill=BLUE)
    return tag("svg", line, span, mark, width=WIDTH, height=HEIGHT)
