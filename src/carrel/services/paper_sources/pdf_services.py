"""Optional servers that read PDFs besides ours: GROBID for title page and references, docling-serve
for the text.
"""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from carrel.libraries.text.xml import XmlError
from carrel.libraries.works.grobid import GrobidPaper, read_grobid

_TIMEOUT_SECONDS = 120.0
_LONGEST_ANSWER_BYTES = 50_000_000
_PAGE_BREAK = "<!-- page break -->"


class PdfServiceError(Exception):
    """A configured server did not answer as it should."""


@dataclass(frozen=True, slots=True)
class PdfServices:
    """Addresses of the servers; None is not used."""

    grobid_url: str | None = None
    docling_url: str | None = None

    def read_with_grobid(self, path: Path) -> GrobidPaper | None:
        """What GROBID tells of a PDF; None where none is configured."""
        if self.grobid_url is None:
            return None
        fields = {"consolidateHeader": "0", "consolidateCitations": "0", "includeRawCitations": "1"}
        address = self.grobid_url.rstrip("/") + "/api/processFulltextDocument"
        answer = _post(address, "input", path, fields, "application/xml")
        try:
            return read_grobid(answer)
        except (XmlError, ValueError) as error:
            raise PdfServiceError(f"its answer is no TEI document: {error}") from error

    def read_with_docling(self, path: Path) -> str | None:
        """The Markdown of docling-serve with marks of pages; None where none is configured."""
        if self.docling_url is None:
            return None
        fields = {"to_formats": "md", "md_page_break_placeholder": _PAGE_BREAK}
        address = self.docling_url.rstrip("/") + "/v1/convert/file"
        answer = _post(address, "files", path, fields, "application/json")
        try:
            markdown = json.loads(answer)["document"]["md_content"]
        except (ValueError, KeyError, TypeError) as error:
            raise PdfServiceError("its answer has no document in Markdown") from error
        if not isinstance(markdown, str) or not markdown.strip():
            raise PdfServiceError("its answer has no text")
        return _number_pages(markdown)


def _number_pages(markdown: str) -> str:
    pages = markdown.split(_PAGE_BREAK)
    return "\n\n".join(
        f"<!-- page {number} -->\n\n{page.strip()}" for number, page in enumerate(pages, start=1)
    )


def _post(address: str, name: str, path: Path, fields: dict[str, str], accept: str) -> bytes:
    """Send a file as a form; raises PdfServiceError whatever goes wrong."""
    border = secrets.token_hex(16)
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
        for key, value in fields.items()
    ]
    head = (
        f'--{border}\r\nContent-Disposition: form-data; name="{name}"; filename="paper.pdf"\r\n'
        f"Content-Type: application/pdf\r\n\r\n"
    )
    body = b"".join([*parts, head.encode(), path.read_bytes(), f"\r\n--{border}--\r\n".encode()])
    request = urllib.request.Request(  # noqa: S310 - the setting allows http and https only
        address,
        data=body,
        headers={"Content-Type": f"multipart/form-data; boundary={border}", "Accept": accept},
    )
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
            content: bytes = answer.read(_LONGEST_ANSWER_BYTES + 1)
    except urllib.error.HTTPError as error:
        raise PdfServiceError(f"it answered {error.code}") from error
    except (OSError, ValueError) as error:
        raise PdfServiceError(f"it cannot be reached: {error}") from error
    if len(content) > _LONGEST_ANSWER_BYTES:
        raise PdfServiceError("its answer is too long")
    return content
