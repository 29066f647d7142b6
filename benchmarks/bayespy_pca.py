"""Probabilistic principal components with missing values, beside BayesPy.

Both make the same sweeps from one start (loadings, then noise, strengths and hidden numbers) on
2,000 rows of 50 columns of which a fifth is missing, with ten factors; `--python` names an
interpreter that has BayesPy, whose bound of every sweep is printed beside ours. Without rotations
the bounds agree to their digits; with them, the time to the best bound less one nat is told.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

COLUMNS, FACTORS, MISSING, VAGUE = 50, 10, 0.2, 1e-5
SURE, SHAPE, RATE = 100.0, 10.0, 10.0
"""Of the start: precision of loadings, shape and rate of noise and strengths."""


def make(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, D), columns around 0, and loadings to begin with."""
    rng = np.random.default_rng(0)
    loadings = rng.standard_normal((COLUMNS, 5))
    rows = rng.standard_normal((n, 5)) @ loadings.T + 0.5 * rng.standard_normal((n, COLUMNS))
    rows[rng.random(rows.shape) < MISSING] = np.nan
    return rows - np.nanmean(rows, axis=0), rng.standard_normal((COLUMNS, FACTORS))


def ours(rows: np.ndarray, start: np.ndarray, sweeps: int, rotate: bool) -> dict[str, list[float]]:
    """Our bounds, and processor seconds after each."""
    import jensen as jn
    from jensen.families import gaussian_vectors
    from jensen.families.gamma import Gamma
    from jensen.free_energy import VBEM, state_at, step
    from jensen.support.machine import one_blas_thread

    parts = ("noise_shape", "noise_rate", "strength_shape", "strength_rate")
    prior = {**dict.fromkeys(parts, VAGUE), "mean_strength": 1e12, "scale": 1.0}
    made = jn.FactorAnalysis(FACTORS, noise="isotropic", prior=prior, rotate=rotate)
    problem = made.problem(rows)
    mean = np.column_stack([np.zeros(COLUMNS), start])
    sure = np.diag([1e12, *[SURE] * FACTORS])
    vectors = gaussian_vectors.from_standard(mean, np.tile(sure, (COLUMNS, 1, 1)))
    noise, alpha = (Gamma(np.full(k, SHAPE - 1.0), np.full(k, RATE)) for k in (1, FACTORS))
    eta = type(problem.model.prior)(vectors, noise, alpha)
    model = problem.model
    if not rotate:  # nor are columns taken away, so that sweeps are those of the peer
        object.__setattr__(model, "moves", lambda state: ())
    with one_blas_thread():
        began = time.process_time()
        state = state_at(model, problem.data.units, VBEM, eta)
        bounds, seconds = [state.free_energy], [time.process_time() - began]
        for _ in range(sweeps):
            state = step(model, problem.data.units, VBEM, state)
            bounds.append(state.free_energy)
            seconds.append(time.process_time() - began)
    return {"bounds": bounds, "seconds": seconds}


def theirs(file: str, sweeps: int, rotate: bool) -> None:
    """BayesPy's bounds and processor seconds, as JSON; run by the interpreter that has it."""
    for name, kind in (("float_", np.float64), ("product", np.prod)):  # of a younger NumPy
        if not hasattr(np, name):
            setattr(np, name, kind)
    from bayespy.inference import VB
    from bayespy.nodes import Gamma, GaussianARD, SumMultiply

    held = np.load(file)
    rows, start = held["rows"].T, held["start"]
    hidden = GaussianARD(0, 1, plates=(1, rows.shape[1]), shape=(FACTORS,))
    alpha = Gamma(VAGUE, VAGUE, plates=(FACTORS,))
    loadings = GaussianARD(0, alpha, plates=(COLUMNS, 1), shape=(FACTORS,))
    tau = Gamma(VAGUE, VAGUE)
    seen = GaussianARD(SumMultiply("i,i", loadings, hidden), tau)
    seen.observe(np.nan_to_num(rows), mask=~np.isnan(rows))
    loadings.initialize_from_parameters(start[:, None, :], SURE)
    tau.initialize_from_parameters(SHAPE, RATE)
    alpha.initialize_from_parameters(SHAPE, RATE)
    run = VB(seen, hidden, loadings, tau, alpha)
    turn = None
    if rotate:
        from bayespy.inference.vmp import transformations

        both = (
            transformations.RotateGaussianARD(loadings, alpha),
            transformations.RotateGaussianARD(hidden),
        )
        turn = transformations.RotationOptimizer(*both, FACTORS)
    began = time.process_time()
    hidden.update()
    bounds, seconds = [float(run.compute_lowerbound())], [time.process_time() - began]
    for _ in range(sweeps):
        for node in (loadings, tau, alpha, hidden):
            node.update()
        if turn is not None:
            turn.rotate()
        bounds.append(float(run.compute_lowerbound()))
        seconds.append(time.process_time() - began)
    print(json.dumps({"bounds": bounds, "seconds": seconds}))


def ask(python: str, file: Path, sweeps: int, rotate: bool) -> dict[str, list[float]]:
    """What BayesPy found, in a process of its own."""
    command = [python, __file__, "--peer", str(file), "--sweeps", str(sweeps)]
    done = subprocess.run(
        command + ["--rotate"] * rotate, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def until(found: dict[str, list[float]], bound: float) -> float:
    """Processor seconds until the bound is reached; infinite if it is not."""
    pairs = zip(found["bounds"], found["seconds"], strict=True)
    return min((spent for value, spent in pairs if value >= bound), default=np.inf)


def main() -> None:
    """Print bounds and times of both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", help="an interpreter that has BayesPy")
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--sweeps", type=int, default=50)
    parser.add_argument("--rotate", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.peer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            theirs(given.peer, given.sweeps, given.rotate)
        return
    rows, start = make(given.rows)
    for rotate in (False, True):
        own = ours(rows, start, given.sweeps, rotate)
        print(f"\nrotations {'on' if rotate else 'off'}")
        each = own["seconds"][-1] / given.sweeps
        print(
            f"ours: {own['bounds'][-1]:.6f} after {given.sweeps} sweeps, {1e3 * each:.1f} ms each"
        )
        if not given.python:
            continue
        with TemporaryDirectory() as folder:
            file = Path(folder) / "start.npz"
            np.savez(file, rows=rows, start=start)
            peer = ask(given.python, file, given.sweeps, rotate)
        theirs_each = peer["seconds"][-1] / given.sweeps
        print(f"BayesPy: {peer['bounds'][-1]:.6f}, {1e3 * theirs_each:.1f} ms")
        if not rotate:
            apart = np.abs(np.subtract(own["bounds"], peer["bounds"])).max()
            print(f"largest difference of the bounds of any sweep: {apart:.2g}")
        best = max(own["bounds"][-1], peer["bounds"][-1]) - 1.0
        print(f"seconds to within 1 nat of {best + 1.0:.3f}: ours {until(own, best):.3f}, "
              f"BayesPy {until(peer, best):.3f}")  # fmt: skip
        print(f"times as quick a sweep: {theirs_each / each:.1f}")


if __name__ == "__main__":
    main()
