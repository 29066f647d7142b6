"""The command line of the benchmarks."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import alarm
from benchmarks.beside import beside, find_checkout
from benchmarks.machine import cores, describe_machine, describe_versions, load
from benchmarks.race import Result, Rules, race
from benchmarks.registry import choose, discover
from benchmarks.report import as_json, show_head, show_result, show_summary
from benchmarks.words import columns
from benchmarks.workload import Setting, Workload

QUICK = 10
"""--quick takes one row in so many."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what was asked for; 1 if Jensen failed somewhere or an answer differs."""
    parser = _parser()
    said = parser.parse_args(arguments)
    known = discover()
    if said.list:
        print("\n".join(columns([[w.name, _title(w)] for w in known.values()])))
        return 0
    try:
        chosen = choose(known, said.names)
        if said.beside:
            checkout = find_checkout(said.beside)
            chosen = [beside(workload, checkout) for workload in chosen]
    except ValueError as error:
        parser.error(str(error))
    rules = Rules(1 if said.quick else said.repeats, said.limit)
    return _run(chosen, rules, whole=not said.quick, target=said.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m benchmarks", description="Jensen beside its peers.")
    parser.add_argument("names", nargs="*", help="workloads, or the first word of several")
    parser.add_argument("--list", action="store_true", help="name the workloads and stop")
    parser.add_argument("--json", metavar="FILE", help="write all figures; - is standard output")
    parser.add_argument("--repeats", type=_positive, default=Rules().repeats, metavar="K")
    parser.add_argument("--limit", type=float, default=Rules().limit, metavar="SECONDS")
    parser.add_argument(
        "--beside", metavar="CHECKOUT", help="another checkout of Jensen in place of the peers"
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, one run")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1, not {text!r}")
    return int(text)


def _title(workload: Workload) -> str:
    return workload.title + (f", {workload.rows:,} rows" if workload.rows else "")


def _run(chosen: Sequence[Workload], rules: Rules, *, whole: bool, target: str | None) -> int:
    out = sys.stderr if target == "-" else sys.stdout
    machine, versions = describe_machine(), describe_versions()
    print(show_head(machine, versions, rules), file=out, flush=True)
    results: list[Result] = []
    with TemporaryDirectory(prefix="jensen-benchmarks-") as folder:
        for workload in chosen:
            rows = workload.rows if whole else workload.rows // QUICK
            setting = Setting(rows, workload.threads or cores(), Path(folder), workload.missing)
            alarm.write_rows(setting)
            results.append(race(workload, setting, rules))
            print(f"\n{show_result(results[-1], whole=whole)}", file=out, flush=True)
    print(f"\n{show_summary(results, whole=whole)}", file=out)
    machine["load_after"] = load()
    print(f"\nload {machine['load_after']} after", file=out)
    if target:
        text = json.dumps(as_json(results, machine, versions, rules, whole=whole), indent=2)
        if target == "-":
            print(text)
        else:
            Path(target).write_text(text + "\n")
    return int(any(_is_wrong(result) for result in results))


def _is_wrong(result: Result) -> bool:
    ours, *peers = result.outcomes
    return ours.problem is not None or any(peer.agrees is False for peer in peers)


if __name__ == "__main__":
    sys.exit(main())
