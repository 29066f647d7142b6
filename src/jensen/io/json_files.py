"""Jensen's JSON: one reader and one writer for all that can be saved.

The format at the top of a file says which class of `SAVED` reads the rest of it.
docs/json-format.md describes all formats for other programs.
"""

from __future__ import annotations

import json
from hashlib import sha256
from importlib import import_module
from typing import Any, Protocol

from jensen.exceptions import FileError
from jensen.support.json_values import Checked, parse_json

VERSION = 1
NETWORK_FORMAT = "jensen-network"
"""The format that a message names where a file has none that is known."""

SAVED = {
    "jensen-network": "jensen.estimators.bayesian_network:BayesianNetwork",
    "jensen-gaussian-network": "jensen.estimators.bayesian_network:BayesianNetwork",
    "jensen-mixed-network": "jensen.estimators.bayesian_network:BayesianNetwork",
    "jensen-markov-network": "jensen.estimators.markov_network:MarkovNetwork",
    "jensen-gaussian-markov-network": "jensen.estimators.gaussian_markov:GaussianMarkovNetwork",
    "jensen-boltzmann-machine": "jensen.estimators.boltzmann_machine:BoltzmannMachine",
    "jensen-rbm": "jensen.estimators.rbm:RBM",
    "jensen-states": "jensen.estimators.state_estimator:StatesEstimator",
    "jensen-trees": "jensen.estimators.mixture_of_trees:MixtureOfTrees",
    "jensen-dynamics": "jensen.estimators.linear_dynamics:LinearDynamicalSystem",
    "jensen-factorial": "jensen.estimators.factorial_hidden_markov:FactorialHiddenMarkovModel",
    "jensen-factors": "jensen.estimators.factor_estimator:FactorEstimator",
    "jensen-structure-posterior": "jensen.q_graph.posterior.base:StructurePosterior",
}
"""Format → the class that reads it. Each has `to_dict()`, which returns plain data with "format"
first, and `from_dict(value)`."""


class Savable(Protocol):
    """A model that can be written."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data, "format" first."""


def looks_like(text: str) -> bool:
    """Whether a text begins as a JSON object does."""
    return text.startswith("{")


def dumps(model: Savable) -> str:
    """A model as JSON text: one line per member, and one per variable."""
    document = model.to_dict()
    members = {"format": document.pop("format"), "version": VERSION, **document}
    lines = [f"{_dump(name)}: {_laid_out(name, value)}" for name, value in members.items()]
    body = "{\n" + ",\n".join(lines)
    return f'{body},\n"checksum": "{_checksum(json.loads(body + "}"))}"\n}}\n'


def _dump(value: Any) -> str:
    """One value as JSON; letters stay as they are."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False)


def _checksum(members: Any) -> str:
    """A hash of all members but the checksum, however they are spaced and ordered."""
    said = {name: value for name, value in members.items() if name != "checksum"}
    return sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _laid_out(name: str, value: Any) -> str:
    return "[\n" + ",\n".join(map(_dump, value)) + "\n]" if name == "variables" else _dump(value)


def loads(text: str, file: str) -> Any:
    """What `dumps` wrote; `file` is for messages."""
    from numpy.linalg import LinAlgError

    head = parse_json(text, file)
    members = head.members()
    found = members["format"].value if "format" in members else None
    if not isinstance(found, str) or found not in SAVED:
        head.fail(f'is no Jensen network: it must begin with "format": "{NETWORK_FORMAT}"')
    if "version" not in members:
        head.fail("lacks 'version'")
    version = members["version"].whole()
    if version != VERSION:
        members["version"].fail(f"is {version}, but this Jensen reads version {VERSION}: update it")
    module, name = SAVED[found].split(":")
    rest = {n: part.value for n, part in members.items() if n not in ("version", "checksum")}
    try:
        model = getattr(import_module(module), name).from_dict(Checked(rest, file))
        if "checksum" in members and members["checksum"].text() != _checksum(head.value):
            head.fail(
                "is not what was saved, by its checksum: it is damaged, or was changed by hand. If "
                "the change is meant, take out the member 'checksum', the last one"
            )
        return model
    except (LinAlgError, OverflowError) as error:
        raise FileError(f"{file}: numbers of which no model can be made ({error})") from None
