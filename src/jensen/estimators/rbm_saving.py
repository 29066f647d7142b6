"""Restricted Boltzmann machines as plain data, with all that was chosen, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jensen.estimators.reports import (
    LOOP,
    METHOD,
    Stored,
    plain_choices,
    plain_learned,
    read_choices,
    read_learned,
    usual_choices,
)
from jensen.inference.restricted import FittedRestricted
from jensen.support.json_values import Checked, refusing

if TYPE_CHECKING:
    from jensen.estimators.rbm import RBM

FORMAT = "jensen-rbm"
WHOLE = ("n_components", "batch_size", "n_iter", "n_steps")
STORED = {
    "method": METHOD,
    **{name: Stored(int, Checked.whole) for name in WHOLE},
    "ridge": Stored(float, Checked.number),
    "learning_rate": Stored(float, Checked.number),
    **{name: LOOP[name] for name in ("n_init", "max_iter", "tol", "random_state")},
}


def plain_rbm(machine: RBM) -> dict[str, Any]:
    """Choices, what was learned, and the parameters, in the order of files."""
    fitted = machine.require_fitted()
    found = {
        "format": FORMAT,
        "choices": plain_choices(STORED, machine.get_params(), usual_choices(machine)),
        "method_used": machine.method_,
        "passes": machine.n_sweeps_,
        "learned": plain_learned(machine) if machine.method_ == "ml" else None,
    }
    if hasattr(machine, "feature_names_in_"):
        found["columns"] = list(map(str, machine.feature_names_in_))
    return {**found, **fitted.to_dict()}


def read_rbm(value: Checked) -> RBM:
    """What `plain_rbm` gave."""
    from jensen.estimators.rbm import METHODS, RBM

    members = value.fields(
        {"format", "choices", "method_used", "passes", "learned", "visible", "hidden", "weights"},
        {"columns"},
    )
    machine = RBM(**read_choices(STORED, members["choices"]))
    own = {name: members[name].value for name in ("visible", "hidden", "weights")}
    machine.fitted_ = FittedRestricted.from_dict(Checked(own, value.file, value.path))
    visible, hidden = machine.fitted_.visible, machine.fitted_.hidden
    machine.method_ = members["method_used"].text()
    if machine.method_ not in METHODS:
        members["method_used"].fail(f"must be one of {list(METHODS)}")
    if not len(visible) or len(hidden) != machine.n_components:
        members["hidden"].fail("must be as many as n_components, over one visible unit at least")
    machine.n_features_in_ = len(visible)
    if "columns" in members:
        names = members["columns"].texts()
        if len(names) != len(visible):
            members["columns"].fail("must name every visible unit")
        machine.feature_names_in_ = np.array(names, dtype=object)
    machine.free_energy_, machine.is_bound_ = np.nan, False
    machine.trace_, machine.starts_ = np.empty(0), np.empty(0)
    machine.n_sweeps_, machine.converged_ = members["passes"].whole(), False
    machine.r_hat_ = machine.effective_sample_size_ = np.nan
    with refusing(value.file):
        machine._choose(np.zeros((1, len(visible))))
    read_learned(machine, members["learned"], machine.fitted_)
    machine._show()
    return machine
