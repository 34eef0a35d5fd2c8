"""Title pages in the layouts of publishers are read from real PDFs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from carrel.libraries.pdf_layout.title_page import Found, TitlePage, read_title_page
from carrel.services.paper_sources.pdf_content import read_content
from tests.services.publisher_pages import LAYOUTS, PublisherPage


def _read(tmp_path: Path, page: PublisherPage) -> TitlePage:
    path = tmp_path / "paper.pdf"
    path.write_bytes(page.write())
    return read_title_page(read_content(path))


def _value(found: Found[str] | None) -> str | None:
    return found.value if found else None


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_a_published_page_gives_its_own_fields(
    tmp_path: Path, layout: Callable[[], PublisherPage]
) -> None:
    wanted = layout()
    found = _read(tmp_path, wanted)
    assert found.title is not None and found.authors is not None
    assert found.title.value == wanted.title
    assert found.authors.value == wanted.authors
    assert _value(found.doi) == wanted.doi
    assert (_value(found.date) or "")[:4] == (wanted.year or "")
    assert _value(found.arxiv_id) == wanted.arxiv_id
    assert found.keywords is None or found.keywords.value == wanted.keywords
    for name in ("venue", "volume", "pages"):
        if getattr(wanted, name) is not None:
            assert _value(getattr(found, name)) == getattr(wanted, name), name


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.__name__)
def test_its_abstract_is_read_whole_or_not_at_all(
    tmp_path: Path, layout: Callable[[], PublisherPage]
) -> None:
    found = _read(tmp_path, layout()).abstract
    assert found is None or "sand" in found.value[:120] or "Rivers carry" in found.value[:60]
