"""Errors of reading what literature services send."""

from __future__ import annotations


class UnreadableRecordError(ValueError):
    """A record of a service has nothing usable, such as neither title nor identifier."""

    def __init__(self, service: str, reason: str) -> None:
        super().__init__(f"A record of {service} cannot be used: {reason}")
        self.service = service
        self.reason = reason
