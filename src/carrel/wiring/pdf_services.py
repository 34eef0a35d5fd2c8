"""The optional servers that read PDFs, as the settings of this process name them."""

from __future__ import annotations

from dataclasses import dataclass

from carrel.settings import Settings


@dataclass(slots=True)
class _PdfServiceAddresses:
    """Builders are opened for a folder alone, far from the settings, so these are remembered."""

    grobid_url: str | None = None
    docling_url: str | None = None


ADDRESSES = _PdfServiceAddresses()


def remember_pdf_services(settings: Settings) -> None:
    """Every builder that is opened from now on asks the servers of these settings."""
    ADDRESSES.grobid_url = settings.papers.grobid_url
    ADDRESSES.docling_url = settings.papers.docling_url
