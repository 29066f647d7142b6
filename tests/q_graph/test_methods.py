"""How methods show that they go on."""

import numpy as np
import pytest
from tqdm import tqdm

import jensen as jn
from jensen.q_graph import methods


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    return jn.Table({name: rng.integers(0, 2, 50).astype(str) for name in "abcd"})


def test_the_bar_of_a_proof_is_in_percent(table, capsys, monkeypatch):
    def at_once(**choices):
        return tqdm(**{**choices, "delay": 0.0, "mininterval": 0.0})

    monkeypatch.setattr(methods, "tqdm", at_once)
    jn.learn_structure(table, "exact", progress=True)
    steps = capsys.readouterr().err.split("\r")
    assert steps[-1].startswith("exact: 100%|")
    assert not any("/1.0" in step or "s/it" in step for step in steps)
