"""All workloads: every file in `workloads/` has a list named WORKLOADS."""

import pkgutil
from collections.abc import Mapping, Sequence
from importlib import import_module

from benchmarks import workloads
from benchmarks.workload import Workload


def discover() -> dict[str, Workload]:
    """Name → workload, file by file."""
    found: dict[str, Workload] = {}
    for file in sorted(module.name for module in pkgutil.iter_modules(workloads.__path__)):
        for workload in import_module(f"{workloads.__name__}.{file}").WORKLOADS:
            if workload.name in found:
                raise ValueError(f"two workloads are named {workload.name!r}: rename one")
            found[workload.name] = workload
    return found


def choose(known: Mapping[str, Workload], names: Sequence[str]) -> list[Workload]:
    """Those whose name is given, or begins with a given word (`fit` is every `fit-...`)."""
    if not names:
        return list(known.values())
    for name in names:
        if not any(_matches(key, name) for key in known):
            raise ValueError(f"there is no workload {name!r}; there are {', '.join(known)}")
    return [w for key, w in known.items() if any(_matches(key, name) for name in names)]


def _matches(key: str, name: str) -> bool:
    return key == name or key.startswith(f"{name}-")
