"""Ctrl-C as a wish: long work ends after the current sweep and keeps what it has."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_heard: threading.Event | None = None
"""The wish that the main thread listens for at the moment."""


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one interrupts at once, as ever.

    Work within work has the same event: all of it ends, and each part has to ask whether what it
    got from another is whole. Only the main thread receives signals; elsewhere the event is never
    set.
    """
    global _heard
    if threading.current_thread() is not threading.main_thread():
        yield threading.Event()
        return
    if _heard is not None:
        yield _heard
        return
    wish, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        wish.set()
        signal.signal(signal.SIGINT, before)

    if before is None or before is signal.SIG_IGN:  # set by another language, or not wanted
        yield wish
        return
    signal.signal(signal.SIGINT, note)
    _heard = wish
    try:
        yield wish
    finally:
        _heard = None
        signal.signal(signal.SIGINT, before)
