"""Jensen's JSON: what a file holds, a network or another model, stands at its top."""

from __future__ import annotations

from typing import Any

from jensen.exceptions import FileError
from jensen.io.checked import Checked, parse_json

STATES = "jensen-states"
GAUSSIAN = "jensen-gaussian-network"
POSTERIOR = "jensen-structure-posterior"


def looks_like(text: str) -> bool:
    """Whether a text begins as a JSON object does."""
    return text.startswith("{")


def dumps(model: Any) -> str:
    """A network, a model of hidden states or a posterior over graphs as JSON text."""
    if getattr(model, "gaussian", None) is not None:
        from jensen.io.json_gaussian import dumps as gaussian_text

        return gaussian_text(model)
    if hasattr(model, "require_network"):
        from jensen.io.json_format import dumps as network_text

        return network_text(model)
    if hasattr(model, "edge_probability"):
        from jensen.io.json_posterior import dumps as posterior_text

        return posterior_text(model)
    from jensen.io.json_states import dumps as states_text

    return states_text(model)


def loads(text: str, file: str) -> Any:
    """What `dumps` wrote; `file` is for messages."""
    from numpy.linalg import LinAlgError

    try:
        return _read(parse_json(text, file))
    except (LinAlgError, OverflowError) as error:
        raise FileError(f"{file}: numbers of which no model can be made ({error})") from None


def _read(head: Checked) -> Any:
    """The model that a document describes."""
    found = head.value.get("format") if isinstance(head.value, dict) else None
    if found == STATES:
        from jensen.io.json_states import read as read_states

        return read_states(head)
    if found == GAUSSIAN:
        from jensen.io.json_gaussian import read as read_gaussian

        return read_gaussian(head)
    if found == POSTERIOR:
        from jensen.io.json_posterior import read as read_posterior

        return read_posterior(head)
    from jensen.io.json_format import read as read_network

    return read_network(head)
