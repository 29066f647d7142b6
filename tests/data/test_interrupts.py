"""Graceful Ctrl-C, and everything as before afterwards."""

import signal
import threading

import pytest

import jensen as jn
from jensen.support.machine import interruptible, ordered_map


@pytest.fixture(autouse=True)
def _usual_handler():
    """A job in the background inherits that the signal is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press():
    signal.raise_signal(signal.SIGINT)


def test_the_first_press_sets_the_event_and_the_second_interrupts():
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with interruptible() as stop:
        assert not stop.is_set()
        press()
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_a_press_nothing_changes():
    before = signal.getsignal(signal.SIGINT)
    with interruptible() as stop:
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
    assert not stop.is_set()


def test_the_handler_is_restored_after_a_press_and_after_an_error():
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        press()
    assert signal.getsignal(signal.SIGINT) is before
    with pytest.raises(RuntimeError), interruptible():
        raise RuntimeError
    assert signal.getsignal(signal.SIGINT) is before


def test_a_handler_of_the_callers_own_gets_the_second_press():
    pressed = []
    signal.signal(signal.SIGINT, lambda number, frame: pressed.append(number))
    with interruptible() as stop:
        press()
        assert (stop.is_set(), pressed) == (True, [])
        press()
    assert pressed == [signal.SIGINT]


def test_an_ignored_signal_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interruptible() as stop:
        press()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    assert not stop.is_set()


def test_a_handler_of_another_language_is_left_alone(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    changed = []
    monkeypatch.setattr(signal, "signal", lambda *args: changed.append(args))
    with interruptible() as stop:
        pass
    assert changed == []
    assert not stop.is_set()
    monkeypatch.undo()


def test_other_threads_never_receive_it():
    found = []

    def work():
        before = signal.getsignal(signal.SIGINT)
        with interruptible() as stop:
            found.append((stop.is_set(), signal.getsignal(signal.SIGINT) is before))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [(False, True)]


def test_threads_of_one_work_have_the_same_event():
    """Else what they are at would go on to its end, be it hours."""
    both = threading.Barrier(2)
    jn.set_threads(2)
    try:
        with interruptible() as stop:

            def work(_):
                with interruptible() as mine:
                    both.wait(timeout=10)  # each thread has one item
                    return mine is stop, threading.current_thread() is threading.main_thread()

            assert sorted(ordered_map(work, range(2))) == [(True, False), (True, True)]
    finally:
        jn.set_threads(None)


def test_work_within_work_has_the_same_event():
    with interruptible() as outer:
        with interruptible() as inner:
            press()
            assert inner.is_set()
        assert outer.is_set()
    with interruptible() as later:
        assert not later.is_set()
