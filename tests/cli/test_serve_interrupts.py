"""Ctrl-C while a server starts ends it, whatever a library makes of the interrupt."""

from __future__ import annotations

import signal

import pytest

from carrel.cli.serve import keeping_interrupts


def test_an_interrupt_that_a_library_turned_into_its_own_error_is_one_again() -> None:
    with pytest.raises(KeyboardInterrupt), keeping_interrupts():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ValueError("a schema cannot be built") from None


def test_an_interrupt_that_a_library_lost_is_raised_at_the_end() -> None:
    passed = []
    with pytest.raises(KeyboardInterrupt), keeping_interrupts():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            passed.append("the library went on")
    assert passed


def test_other_errors_stay_what_they_are_and_the_handler_is_put_back() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="another"), keeping_interrupts():
        raise ValueError("another")
    assert signal.getsignal(signal.SIGINT) is before
