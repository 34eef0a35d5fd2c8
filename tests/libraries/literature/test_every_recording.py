"""No reader breaks on any object of any recording, also on those of other services."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from carrel.libraries.literature import (
    crossref,
    datacite,
    openalex,
    opencitations,
    semantic_scholar,
    unpaywall,
)
from carrel.libraries.literature.errors import UnreadableRecordError
from carrel.libraries.literature.records import ServiceRecord
from tests.libraries.literature.recorded_works import recorded_objects
from tests.services.literature.recorded import needs_recordings

READERS: dict[str, Callable[[Mapping[str, Any]], ServiceRecord]] = {
    "crossref": crossref.read_work,
    "openalex": openalex.read_work,
    "semanticscholar": semantic_scholar.read_work,
    "datacite": datacite.read_work,
    "opencitations": opencitations.read_work,
    "unpaywall": unpaywall.read_work,
}
# Every so many objects, so that the test stays short: most of them are parts of works.
_STEP = 7


@needs_recordings
@pytest.mark.parametrize("folder", sorted(READERS))
def test_any_object_is_read_or_refused(folder: str) -> None:
    found = recorded_objects(folder, lambda _: True)
    assert found
    for at, raw in enumerate(found):
        readers = READERS.values() if at % _STEP == 0 else (READERS[folder],)
        for read in readers:
            try:
                read(raw)
            except UnreadableRecordError:
                continue
