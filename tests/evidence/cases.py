"""Rows and models that several tests ask."""

import jensen as jn

ROWS = ["000", "001", "000", "111", "110", "111", "010", "111", "000", "101", "111", "000"]
LATENT = {name: [row[i] for row in ROWS] for i, name in enumerate("abc")}
POINTS = [-2.1, -1.7, -1.4, -1.1, -0.3, 0.2, 0.9, 1.6, 1.8, 2.2, 2.4, 3.1]
NORMAL_GAMMA = {
    "concentration": 1.0,
    "mean": [0.0],
    "mean_strength": 0.1,
    "degrees_of_freedom": 4.0,
    "scale": [0.5],
}
SEQUENCES = [[0, 1, 1, 0, 0, 1], [1, 1, 0]]


def latent_class(n, **choices):
    prior = {"concentration": 1.0, "emission": 1.0}
    return jn.LatentClass(n, prior=prior, random_state=0, **choices)


def chain(n, **choices):
    prior = {"initial": 1.0, "transition": 1.0, "emission": 1.0}
    return jn.HiddenMarkovModel(
        n, emission="categorical", symbols=[0, 1], prior=prior, random_state=0, **choices
    )
