"""How often variational Bayes finds the order of a linear dynamical system.

    python -m benchmarks.system_order [--orders 1 2 3 4] [--seeds 20] [--states 6] [--steps 500]

Systems have six outputs, loadings of standard normal numbers, noise of variance 1 everywhere, and
eigenvalues of random moduli in [0.6, 0.95]. The learner begins with more states than there are, and
is told nothing of their number.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag  # type: ignore[import-untyped]

import jensen as jn

OUTPUTS = 6


def draw_system(
    order: int, steps: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outputs (T, 6) of a system of this order, and the moduli of its eigenvalues."""
    rng = np.random.default_rng([order, seed])
    moduli, blocks, left = [], [], order
    while left:
        size = rng.uniform(0.6, 0.95)
        if left >= 2 and rng.random() < 0.5:
            turn = rng.uniform(0.2, np.pi - 0.2)
            cos, sin = np.cos(turn), np.sin(turn)
            blocks.append(size * np.array([[cos, -sin], [sin, cos]]))
            moduli += [size, size]
            left -= 2
        else:
            blocks.append(np.array([[size * rng.choice([-1.0, 1.0])]]))
            moduli.append(size)
            left -= 1
    basis = np.linalg.qr(rng.normal(size=(order, order)))[0]
    A = basis @ block_diag(*blocks) @ basis.T
    C = rng.normal(size=(OUTPUTS, order))
    x, rows = np.zeros(order), np.empty((steps, OUTPUTS))
    for t in range(-100, steps):
        x = A @ x + rng.normal(size=order)
        if t >= 0:
            rows[t] = C @ x + rng.normal(size=OUTPUTS)
    return rows, np.array(moduli)


def find_order(rows: NDArray[np.float64], states: int) -> jn.LinearDynamicalSystem:
    """The system that variational Bayes finds."""
    model = jn.LinearDynamicalSystem(states, prior={}, max_iter=2000, tol=1e-5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows)


def main() -> None:
    """Print a line for each order."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--states", type=int, default=6)
    parser.add_argument("--steps", type=int, default=500)
    given = parser.parse_args()
    for order in given.orders:
        found, begin = [], time.process_time()
        for seed in range(given.seeds):
            rows, _ = draw_system(order, given.steps, seed)
            found.append(find_order(rows, given.states).n_states_)
            print(order, seed, found[-1], flush=True)
        right = sum(n == order for n in found)
        seconds = (time.process_time() - begin) / given.seeds
        print(f"order {order}: {right} of {given.seeds} right, {seconds:.1f} s each: {found}")


if __name__ == "__main__":
    main()
