"""A list of references names what others found; it does not lead where a text says so itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from carrel.rooms.papers.passages import PaperPassages
from carrel.settings import Settings
from carrel.wiring.papers import open_corpus
from carrel.wiring.papers_build import build_papers

CITING = """---
title: A cell of the heart
---
# A cell of the heart

## Results

The wall of the vessel was stained and counted under the microscope in every animal.

## References

1. Doe J (2019). Heart regeneration of the zebrafish after injury. *Journal* 1:2.
2. Roe R (2020). Heart regeneration and repair of mice, heart regeneration. *Journal* 3:4.
"""

SAYING = """---
title: Repair after injury
---
# Repair after injury

## Results

After amputation we saw that heart regeneration was complete within sixty days, as the animals
swam again and their ventricles had closed without a scar of the kind that mammals form.
"""


@pytest.mark.anyio
@pytest.mark.promise("P13")
async def test_the_text_that_says_it_comes_before_a_list_that_names_it(tmp_path: Path) -> None:
    sources, home = tmp_path / "sources", tmp_path / "home"
    sources.mkdir()
    (sources / "citing.md").write_text(CITING)
    (sources / "saying.md").write_text(SAYING)
    build_papers([sources], home / "papers")
    corpus = open_corpus(Settings(home=home))
    try:
        of_papers = PaperPassages(corpus.service, corpus.store, corpus.store)
        passages = await of_papers.find("heart regeneration", (), page=1, limit=10)
        papers = await corpus.service.search("heart regeneration", page=1, limit=10)
        cited = await corpus.service.search("Heart regeneration of the zebrafish", page=1, limit=10)
    finally:
        await corpus.close()
    assert [hit.section for hit in passages[:2]] == ["Results", "References"]
    assert [hit.title for hit in papers] == ["Repair after injury", "A cell of the heart"]
    assert "A cell of the heart" in [hit.title for hit in cited]
