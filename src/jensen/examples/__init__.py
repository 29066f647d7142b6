"""Networks and data from the literature, to try things on."""

from importlib.resources import as_file, files

from jensen import io
from jensen.data import Table
from jensen.estimators.bayesian_network import BayesianNetwork
from jensen.exceptions import JensenError


def list() -> tuple[str, ...]:
    """Names of the networks that `load` knows.

    >>> import jensen as jn
    >>> jn.examples.list()
    ('alarm', 'asia', 'burglary', 'cancer', 'sachs', 'sprinkler', 'student', 'survey')
    """
    names = (item.name for item in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def load(name: str) -> BayesianNetwork:
    """A network with its published tables; `network_.properties["source"]` tells where from.

    >>> import jensen as jn
    >>> jn.examples.load("asia")
    BayesianNetwork(8 nodes, 8 edges, 18 free parameters)
    """
    known = list()
    if name not in known:
        raise JensenError(f"there is no example {name!r}: choose one of {', '.join(known)}")
    with as_file(files(__name__) / f"{name}.json") as path:
        net: BayesianNetwork = io.load(path)
        return net


def faithful() -> Table:
    """Eruptions of the geyser Old Faithful: how long each took, and the wait for the next.

    272 rows, in minutes; Azzalini and Bowman (1990), *A look at some data on the Old Faithful
    geyser*, doi:10.2307/2347385.

    >>> import jensen as jn
    >>> jn.examples.faithful()
    Table: 272 rows, 2 columns
      eruptions  continuous
      waiting    continuous
    """
    with as_file(files(__name__) / "faithful.csv") as path:
        return Table(path, continuous=["eruptions", "waiting"])
