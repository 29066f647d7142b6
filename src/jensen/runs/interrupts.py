"""Graceful Ctrl-C: the first one sets an event, on which long work ends and keeps what it has."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

_current: ContextVar[threading.Event | None] = ContextVar("current", default=None)
"""The event that Ctrl-C sets at the moment; threads that the main thread starts share it."""


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Yield an event that the first Ctrl-C sets; the second one interrupts at once, as usual.

    Work that is called by other such work, also on the threads of `data.threads`, has the same
    event: all of it ends, and each part has to ask whether the results that it was given are
    complete. Only the main thread receives signals: in a thread that the caller started, the event
    is never set.
    """
    shared = _current.get()
    if shared is not None:
        yield shared
        return
    if threading.current_thread() is not threading.main_thread():
        yield threading.Event()
        return
    stop, before = threading.Event(), signal.getsignal(signal.SIGINT)

    def request_stop(number: int, frame: FrameType | None) -> None:
        stop.set()
        signal.signal(signal.SIGINT, before)

    if before is None or before is signal.SIG_IGN:  # set by another language, or ignored
        yield stop
        return
    signal.signal(signal.SIGINT, request_stop)
    token = _current.set(stop)
    try:
        yield stop
    finally:
        _current.reset(token)
        signal.signal(signal.SIGINT, before)
