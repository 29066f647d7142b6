"""What the figures were measured on."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

CORE = ("jensen", "llvmlite", "numba", "numpy", "pyarrow", "scipy")
PEERS = ("pandas", "pgmpy", "polars", "pyagrum")


def cores() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def describe_machine() -> dict[str, Any]:
    """Processor, cores, memory, system, Python, and how busy it was."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "memory_gib": _memory_gib(),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "load_before": load(),
    }


def load() -> float | None:
    """How many processes wanted a core in the last minute: whatever was not ours is noise."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def describe_versions() -> dict[str, str]:
    """Package → version, or "not installed"."""
    return {name: _version(name) for name in (*CORE, *PEERS)}


def peak_gib() -> float | None:
    """Memory of this process at its peak; what the kernel calls maxrss would count its parent."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(x.split()[1]) / 2**20 for x in lines if x.startswith("VmHWM:")), None)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory_gib() -> float | None:
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return None
    return round(pages * size / 2**30, 1)
