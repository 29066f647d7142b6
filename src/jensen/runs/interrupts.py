"""Ctrl-C as a wish: long work ends after the current sweep and keeps what it has."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_heard: ContextVar[threading.Event | None] = ContextVar("heard", default=None)
"""The wish that is listened for at the moment, by the main thread for all threads of its work."""


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one interrupts at once, as ever.

    Work within work has the same event: all of it ends, and each part has to ask whether what it
    got from another is whole; so has work that is done on threads (see `data.threads`). Only the
    main thread receives signals; in a thread of the caller's own the event is never set.
    """
    heard = _heard.get()
    if heard is not None:
        yield heard
        return
    if threading.current_thread() is not threading.main_thread():
        yield threading.Event()
        return
    wish, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def note(number: int, frame: FrameType | None) -> None:
        wish.set()
        signal.signal(signal.SIGINT, before)

    if before is None or before is signal.SIG_IGN:  # set by another language, or not wanted
        yield wish
        return
    signal.signal(signal.SIGINT, note)
    token = _heard.set(wish)
    try:
        yield wish
    finally:
        _heard.reset(token)
        signal.signal(signal.SIGINT, before)
