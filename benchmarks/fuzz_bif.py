"""Damage real BIF files in many ways: each must be refused in words, or read to a whole network.

python -m benchmarks.fuzz_bif --mutants 100000 --seed 0
"""

import argparse
import random
import re
import resource
import signal
import sys
import time
from collections import Counter
from types import FrameType
from typing import NoReturn

from tqdm import tqdm

from tests.naive.bif import JAVABAYES, SMALL, shipped
from tests.naive.bif_damage import check_damaged, mutant, small_parts

LONGEST = 2000  # letters; of larger networks a part is taken
SLOWEST = 5.0  # seconds, for all that is done with one mutant, on a busy machine


def main() -> int:
    choices = _choices()
    texts = [SMALL, JAVABAYES]
    texts += [t if len(t) <= LONGEST else small_parts(t, LONGEST) for t in shipped().values()]
    signal.signal(signal.SIGALRM, _too_slow)
    told: Counter[str] = Counter()
    slowest, failures = 0.0, 0
    for k in tqdm(range(choices.first, choices.first + choices.mutants), mininterval=10):
        rng = random.Random(f"{choices.seed} {k}")
        text = mutant(rng.choice(texts), rng)
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, SLOWEST)
        try:
            told[_kind(check_damaged(text))] += 1
        except BaseException as error:  # a fault of ours: tell which, and go on
            signal.setitimer(signal.ITIMER_REAL, 0)
            if isinstance(error, KeyboardInterrupt):
                raise
            failures += 1
            print(f"mutant {k}: {type(error).__name__}: {error}", file=sys.stderr)
        signal.setitimer(signal.ITIMER_REAL, 0)
        slowest = max(slowest, time.perf_counter() - start)
    _report(told, slowest, failures)
    return int(failures > 0)


def _kind(refusal: str | None) -> str:
    """What was said of a text, without what depends on it."""
    if refusal is None:
        return "read"
    said = re.sub(r"^x\.bif(?:, line \d+, column \d+)?: ", "", refusal)
    said = re.sub(r"""(['"]).*?\1|(?<=found ).*|(?<=here is one: ).*|(?<=has: ).*""", "_", said)
    return re.sub(r"[\d.,e+-]*\d", "#", re.sub(r"parents?: .*|\(.*\)", "_", said))


def _too_slow(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise TimeoutError(f"it took more than {SLOWEST} seconds")


def _report(told: Counter[str], slowest: float, failures: int) -> None:
    n = sum(told.values()) + failures
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{n:,} mutants: {told['read']:,} read, {n - told['read'] - failures:,} refused,")
    print(f"{failures} failures; the slowest took {slowest:.2f} s; {peak:.0f} MiB at most")
    for said, count in told.most_common():
        print(f"{count:>8,}  {said}")


def _choices() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutants", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first mutant")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
