"""The formats of network files: how each kind of network is written and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from jensen.inference.fitted import FittedNetwork
from jensen.inference.gaussian_network import GaussianNetwork
from jensen.inference.mixed_files import mixed_entry, plain_mixed_network, read_mixed_network
from jensen.inference.mixed_network import MixedNetwork
from jensen.inference.network import Network
from jensen.inference.network_files import (
    plain_gaussian_network,
    plain_network,
    read_gaussian_network,
    read_network,
    regression_entry,
    table_entry,
)
from jensen.support.json_values import Checked


class NetworkFile(NamedTuple):
    """How one kind of network is written and read."""

    entry: Callable[[Any, str], dict[str, Any]]  # one variable
    plain: Callable[[Any], dict[str, Any]]  # the whole network
    read: Callable[[Checked], FittedNetwork]


FILES = {
    Network.format: NetworkFile(table_entry, plain_network, read_network),
    GaussianNetwork.format: NetworkFile(
        regression_entry, plain_gaussian_network, read_gaussian_network
    ),
    MixedNetwork.format: NetworkFile(mixed_entry, plain_mixed_network, read_mixed_network),
}
"""Format → how networks of that kind are written and read."""
