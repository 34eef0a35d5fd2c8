"""Every error that the house can raise has its place in the one table."""

from __future__ import annotations

import importlib
import pkgutil

import carrel
from carrel.core.errors import CarrelError
from carrel.doors.errors import TABLE

_OPTIONAL = ("carrel.demo", "carrel.mcp_server", "carrel.libraries.csl.suite")


def _codes(kind: type[CarrelError]) -> set[str]:
    return {kind.code, *(code for child in kind.__subclasses__() for code in _codes(child))}


def test_every_code_is_in_the_table() -> None:
    for module in pkgutil.walk_packages(carrel.__path__, "carrel."):
        if not module.name.startswith(_OPTIONAL):
            try:
                importlib.import_module(module.name)
            except ModuleNotFoundError as missing:
                # A driver of an extra that is not installed here; our own modules must all be
                # there.
                assert not str(missing.name).startswith("carrel"), missing
    ours = {code for code in _codes(CarrelError) if not code.startswith("test")}
    assert ours - set(TABLE) == set()
