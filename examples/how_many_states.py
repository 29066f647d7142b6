"""How many hidden states? Two answers for a chain that has three.

VB with too many states and a sparse prior leaves the surplus empty, if it starts often enough: a
surplus state that holds on to a few steps is a local optimum, with a lower bound. And the bounds of
models with 1, 2, 3, ... states can be compared, because all their constants are in. Writes
how_many_states.svg, or the named file.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

import jensen as jn

truth = jn.HiddenMarkovModel.from_parameters(
    initial=[1 / 3] * 3,
    transition=[[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]],
    means=[[0.0], [3.0], [7.0]],
    covariances=[[[0.5]], [[0.5]], [[1.0]]],
    kind="gaussian",
)
x, states = truth.sample(400, random_state=5)
x[np.random.default_rng(0).random(x.shape) < 0.1] = np.nan  # a tenth of the steps is missing

many = jn.HiddenMarkovModel(6, emission="gaussian", prior={}, n_init=20, random_state=1).fit(x)
model = jn.HiddenMarkovModel(emission="gaussian", prior={}, n_init=5, random_state=0)
choice = jn.choose_components(x, range(1, 7), model=model)

figure, (left, right) = plt.subplots(
    1, 2, figsize=(9, 3), width_ratios=[2, 1], layout="constrained"
)
path = many.decode(x)
left.scatter(np.arange(len(x)), x[:, 0], c=path, s=6, cmap="tab10", vmin=0, vmax=9)
left.set(xlabel="step", title=f"6 states to begin with, {many.n_states_} are used")
choice.plot(right)
right.set(xlabel="states")
for axes in (left, right):
    axes.spines[["top", "right"]].set_visible(False)
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "how_many_states.svg")

print(f"6 states to begin with: {many.n_states_} are used, the bound is {many.free_energy_:.2f}")
print(choice)
