"""What backup and restore do where the audit log cannot be written: they say so and go on."""

from __future__ import annotations

import sys

from carrel.core.errors import AuditUnavailableError


def go_on_unrecorded(error: AuditUnavailableError) -> None:
    """A broken log must not keep anybody from saving the data, or from getting them back."""
    print(
        "carrel: the audit log cannot be written; going on without a record there.", file=sys.stderr
    )
