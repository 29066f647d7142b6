"""What a file format cannot hold, said once where the file is written."""

import warnings

from jensen.exceptions import FormatWarning
from jensen.inference import Network
from jensen.support.text import some


def warn_of_losses(
    network: Network, name: str, properties: list[str] | None = None, *, names: bool = False
) -> None:
    """Warn of what is left out of a file; to be called by `dumps` itself, for the stack level.

    Parameters
    ----------
    network
        What is to be written.
    name
        The name of the format.
    properties
        Those that it cannot hold.
    names
        Whether names of variables and states are lost.
    """
    lost = ["the names of variables and states (they become numbers)"] if names else []
    if network.concentration is not None:
        lost.append("the posterior (the probabilities are kept)")
    if network.samples is not None:
        lost.append("the samples of the posterior (their mean is kept)")
    cut = [v.name for v in network.variables if v.cuts is not None]
    if cut:
        lost.append(f"the cut points of {some(cut)}")
    if properties:
        lost.append(f"the properties {some(dict.fromkeys(properties))}")
    if lost:
        warnings.warn(
            f"{name} cannot hold {' and '.join(lost)}; a file that ends in .json can",
            FormatWarning,
            stacklevel=6,  # where net.save was called
        )
