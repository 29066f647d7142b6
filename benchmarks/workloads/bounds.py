"""Where exact sums are too large: loopy propagation and mini-buckets on grids of spins.

The grids are made here: J_k = a cos(1.7 k + 0.3) along edges, row by row (right, then down), and
h_i = 0.3 sin(2.1 i + 0.5). Both sum the variables out in the order that Jensen found.
"""

from typing import Any

import numpy as np

from benchmarks.agree import relative_difference
from benchmarks.workload import Check, Contender, Goal, Setting, Task, Workload

I_BOUND, PASSES = 10, 5


def _grid(side: int, strength: float) -> tuple[list[tuple[int, ...]], list[Any]]:
    spins = np.array([-1.0, 1.0])
    scopes: list[tuple[int, ...]] = [(i,) for i in range(side * side)]
    tables = [0.3 * np.sin(2.1 * i + 0.5) * spins for i in range(side * side)]
    for r in range(side):
        for c in range(side):
            for down, right in ((0, 1), (1, 0)):
                if r + down < side and c + right < side:
                    k = len(tables) - side * side
                    scopes.append((r * side + c, (r + down) * side + c + right))
                    tables.append(strength * np.cos(1.7 * k + 0.3) * np.outer(spins, spins))
    return scopes, tables


def _factors(side: int, strength: float) -> Any:
    from jensen.q_hidden.factor_lists.factor_list import make_factor_list

    return make_factor_list([2] * side * side, *_grid(side, strength))


def _model(side: int, strength: float) -> Any:
    import pygms as gm

    scopes, tables = _grid(side, strength)
    spins = [gm.Var(i, 2) for i in range(side * side)]
    pairs = zip(scopes, tables, strict=True)
    return gm.GraphModel([gm.Factor([spins[v] for v in s], np.exp(t)) for s, t in pairs])


def jensen_loopy(setting: Setting) -> Task:
    from jensen.q_hidden.factor_lists.loopy import Propagation, propagate

    factors = _factors(50, 0.4)
    propagate(_factors(3, 0.4), Propagation("sweeps"))  # so that kernels are loaded
    return Task(
        lambda _: propagate(factors, Propagation("sweeps")),
        answer=lambda point: point.log_z,
        details=lambda point: [f"{point.sweeps} sweeps, converged: {point.converged}"],
    )


def pygms_loopy(setting: Setting) -> Task:
    from pygms.messagepass import LBP

    model = _model(50, 0.4)
    return Task(lambda _: LBP(model, maxIter=21), answer=lambda found: float(found[0]))


def jensen_buckets(setting: Setting) -> Task:
    from jensen.q_hidden.factor_lists.mini_buckets import bucket_bound, elimination_order, split

    factors = _factors(10, 1.0)
    order = elimination_order(factors)
    bucket_bound(factors, split(factors, 3), "upper", 1)  # so that kernels are loaded
    return Task(
        lambda _: bucket_bound(factors, split(factors, I_BOUND, order), "upper", PASSES),
        answer=lambda bound: bound.value,
        details=lambda bound: [f"upper bound {bound.value:.4f}"],
    )


def pygms_buckets(setting: Setting) -> Task:
    from pygms.wmb import WMB

    from jensen.q_hidden.factor_lists.mini_buckets import elimination_order

    model, order = _model(10, 1.0), elimination_order(_factors(10, 1.0))

    def run(_: None) -> float:
        buckets = WMB(model, elimOrder=order, iBound=I_BOUND, weights=1.0)
        for _sweep in range(PASSES - 1):
            buckets.msgForward(0.5, 0.1)
            buckets.msgBackward()
        return float(buckets.msgForward(0.5, 0.1))

    return Task(run, details=lambda bound: [f"upper bound {bound:.4f}"])


WORKLOADS = [
    Workload(
        "loopy-grid",
        "loopy belief propagation to 1e-9 on a grid of 50 by 50 spins",
        Contender("jensen", jensen_loopy, "jensen"),
        [Contender("pygms, as many sweeps", pygms_loopy, "pygms")],
        Check(relative_difference, 1e-4, "relative"),
        threads=1,
        goal=Goal(seconds=0.05),
    ),
    Workload(
        "mini-buckets",
        f"an upper bound by weighted mini-buckets, i-bound {I_BOUND}, {PASSES} passes, 10 by 10",
        Contender("jensen", jensen_buckets, "jensen"),
        [Contender("pygms", pygms_buckets, "pygms")],
        Check(relative_difference, 1e-3, "relative"),
        threads=1,
        goal=Goal(ratio=20),
    ),
]
