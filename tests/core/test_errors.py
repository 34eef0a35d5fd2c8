"""Errors of ours, whole on the other side of a process."""

from __future__ import annotations

import pickle

import pytest

from carrel.core.errors import CarrelError, NotFoundError
from carrel.rooms.papers.errors import BuildInProgressError, PaperNotAddedError, PaperNotFoundError


@pytest.mark.parametrize(
    "error",
    [
        NotFoundError("paper", "x", next_step="Look.", details={"at": [1]}),
        PaperNotFoundError("x"),
        PaperNotAddedError("No.", next_step="Again.", details={"problems": [{"line": 3}]}),
        BuildInProgressError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_error_crosses_processes_whole(error: CarrelError) -> None:
    arrived = pickle.loads(pickle.dumps(error))
    assert type(arrived) is type(error)
    assert arrived.to_facts() == error.to_facts()
    assert str(arrived) == str(error)
