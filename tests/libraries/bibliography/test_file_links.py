"""Paths of files as JabRef, Zotero, Mendeley, BibDesk and people write them."""

import pytest

from carrel.libraries.bibliography.file_links import declared_folders, read_file_links


@pytest.mark.parametrize(
    "value",
    [
        "http://x.org/a.pdf",
        r":http\://x.org/a.pdf:PDF",
        r"Arxiv:https\://arxiv.org/pdf/1.pdf:URL",
        "internal-pdf://",
        "zotero://select/items/1",
        "",
        ";;",
        ":::",
    ],
)
def test_addresses_and_nothing_are_no_files(value: str) -> None:
    assert not [link for link in read_file_links(value) if link.strip(":")]


@pytest.mark.parametrize(
    ("value", "paths"),
    [
        (r":C$\backslash$:/Users/Me/a - 2014.pdf:pdf", ["C:/Users/Me/a - 2014.pdf"]),
        (r":C\:\\Users\\me\\a.pdf:PDF", [r"C:\Users\me\a.pdf"]),
        (r"C:\Users\me\a.pdf", [r"C:\Users\me\a.pdf"]),
        (r"C:\docs\a.pdf:PDF", [r"C:\docs\a.pdf"]),
        (":C:/docs/a.pdf:PDF", ["C:/docs/a.pdf"]),
        (r"\\server\share\a.pdf", [r"\\server\share\a.pdf"]),
        ("file:///C:/Users/a%20b.pdf", ["C:/Users/a b.pdf"]),
        ("file://localhost/Users/me/a%20b.pdf", ["/Users/me/a b.pdf"]),
        (r"Title\: sub:files/1/x\:y.pdf:application/pdf", ["files/1/x:y.pdf"]),
        (
            r"PDF:files/12/Doe\; Roe.pdf:application/pdf;Snapshot:files/13/i.html:text/html",
            ["files/12/Doe; Roe.pdf", "files/13/i.html"],
        ),
        ("a; b:files/1/a.pdf:application/pdf", ["files/1/a.pdf"]),
        (":a.pdf:PDF;;:b.pdf:PDF;", ["a.pdf", "b.pdf"]),
        (":papers/a.pdf:PDF:", ["papers/a.pdf"]),
        ("internal-pdf://0123/a%20b.pdf", ["PDF/0123/a b.pdf"]),
        (r":papers/a.pdf:PDF:https\://x.org/a.pdf", ["papers/a.pdf"]),
        ("{:a.pdf:PDF}", ["a.pdf"]),
        (r"a{\_}b.pdf", ["a_b.pdf"]),
        (r"a\_b.pdf", ["a_b.pdf"]),
        ("x.pdf:PDF", ["x.pdf"]),
        ("a.pdf;b.pdf", ["a.pdf", "b.pdf"]),
        ("../pdfs/a, b.pdf", ["../pdfs/a, b.pdf"]),
    ],
)
def test_a_path_is_found_in_every_notation(value: str, paths: list[str]) -> None:
    assert list(read_file_links(value)) == paths


def test_the_folders_that_jabref_declares_are_known() -> None:
    content = (
        b"@comment{jabref-meta: fileDirectory:pdfs;}\n"
        rb"@comment{jabref-meta: fileDirectory-me-host:C\:\\papers;}"
    )
    assert declared_folders(content) == ("pdfs", r"C:\papers")
    assert declared_folders(b"@comment{jabref-meta: databaseType:bibtex;}") == ()
