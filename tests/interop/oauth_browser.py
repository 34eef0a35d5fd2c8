"""A browser for programs that open one: logs in, allows, and goes where it is sent."""

from __future__ import annotations

import sys

from tests.access.serving import sign_in_and_allow, visit_callback

if __name__ == "__main__":
    visit_callback(sign_in_and_allow(sys.argv[1]))
