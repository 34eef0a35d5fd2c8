"""The judges' data beside the checkout; tests that need it say so and are skipped where it is
absent.
"""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CITATIONS = ROOT.parent / "shared" / "data" / "citations"

needs_data = pytest.mark.skipif(
    not CITATIONS.is_dir(), reason="../shared/data/citations is not beside this checkout"
)
