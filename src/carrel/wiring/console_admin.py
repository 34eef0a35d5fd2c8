"""Hands the stores and services of administration over to its operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carrel.core.operation import Operation

if TYPE_CHECKING:
    from carrel.wiring.desk import Desk


def admin_operations(desk: Desk) -> tuple[Operation[Any], ...]:
    """What administrators may do, as entries for the gate."""
    return ()
