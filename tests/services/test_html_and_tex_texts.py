"""LaTeXML pages and TeX sources as Markdown: what is kept, and what hostile ones cost."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from carrel.libraries.text.budget import InputTooCostlyError, parsing
from carrel.libraries.text.html import page_metas, parse_html
from carrel.services.paper_sources.html_text import read_html_article
from carrel.services.paper_sources.tex_archives import (
    TexArchiveError,
    TexLimits,
    unpack_tex_source,
)
from carrel.services.paper_sources.tex_text import read_tex_article

pytestmark = pytest.mark.promise("W2")
FILLER = "Words about nets follow one another here. " * 40


def _document(body: str, preamble: str = "") -> dict[str, str]:
    text = rf"\documentclass{{article}}{preamble}\begin{{document}}{body} {FILLER}\end{{document}}"
    return {"main.tex": text}


def _read(body: str, preamble: str = "", **files: str) -> str:
    with parsing("the source", 100_000):
        article = read_tex_article({**_document(body, preamble), **files})
    assert article is not None
    return article.markdown


def _article(inner: str) -> str:
    page = (
        f"<html><body><article class='ltx_document'>{inner}<p class='ltx_p'>{FILLER}</p></article>"
    )
    with parsing("the page", 100_000):
        found = read_html_article(page)
    assert found is not None
    return found.markdown


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (
            r"G\"odel, Fran\c{c}ois, \v{S}koda, stra\ss e, \'{e}",
            "Gödel, François, Škoda, straße, é",
        ),
        (r"\emph{very} \textbf{bold} {\em here}", "*very* **bold** here"),
        (r"Costs \$5 \& 10\%", r"Costs \$5 & 10%"),
        (r"``quoted'' text---dashed", "“quoted” text—dashed"),
        (r"see \href{https://x.org/a}{the site}", "see [the site](https://x.org/a)"),
        (r"with $a_i \leq \frac{1}{2}$ and \(b\)", r"with $a_i \leq \frac{1}{2}$ and $b$"),
        (r"in \LaTeX{} \unknowncommand{shown} \label{gone}", "in LaTeX shown"),
        (r"kept\footnote{A note.}", "kept (note: A note.)"),
    ],
)
def test_running_text_keeps_words_and_maths(written: str, shown: str) -> None:
    assert shown in _read(written)


def test_sections_lists_displays_tables_and_references_have_their_form() -> None:
    text = _read(
        r"""\title{On Nets}
\begin{abstract}We study nets.\end{abstract}
\section{Model}\subsection*{Parts}
\begin{enumerate}\item one \item two \begin{itemize}\item inner\end{itemize}\end{enumerate}
\begin{align} a &= b \label{eq} \\ c &= d \nonumber \end{align}
\[ x^2 \]
\begin{table}\caption{Runs.}\label{tab:runs}\begin{tabular}{lc}\hline Name & $n$ \\ us & 2 \\
\end{tabular}\end{table}
As Table~\ref{tab:runs} and \citet{ba} say.
\begin{verbatim}
x = 1 % kept
\end{verbatim}
% \section{Commented out}
\begin{thebibliography}{9}\bibitem[Ba(2016)]{ba} J.~Ba. \newblock Layer nets. 2016.
\end{thebibliography}"""
    )
    assert text.startswith("# On Nets\n\n## Abstract\n\nWe study nets.")
    assert "## Model\n\n### Parts\n\n1. one\n2. two" in text
    assert r"$$\begin{aligned} a &= b \\ c &= d \end{aligned}$$" in text
    assert "$$x^2$$" in text
    assert "**Table 1.** Runs.\n\n| Name | $n$ |\n|---|---|\n| us | 2 |" in text
    assert "As Table 1 and [1] say." in text
    assert "x = 1 % kept" in text
    assert "Commented" not in text
    assert "## References\n\n1. J. Ba. Layer nets. 2016." in text


def test_files_are_included_and_macros_written_out() -> None:
    text = _read(
        r"\input{parts/one} \net{k} \eg this",
        r"\newcommand{\net}[1]{the net $\mathcal{N}_{#1}$}\def\eg{e.g.\ }",
        **{"parts/one.tex": r"Included. \input{missing} \input{main}"},
    )
    assert "Included." in text
    assert r"the net $\mathcal{N}_{k}$ e.g. this" in text


@pytest.mark.parametrize(
    "preamble",
    [
        r"\newcommand{\a}{\a\a}",
        "".join(
            rf"\newcommand{{\m{chr(98 + n)}}}{{\m{chr(97 + n)}\m{chr(97 + n)}}}" for n in range(24)
        ),
    ],
)
def test_macros_that_grow_without_end_are_bounded(preamble: str) -> None:
    files = _document(r"\a \my \mx", preamble)
    with parsing("the source", 2_000):
        try:
            article = read_tex_article(files)
        except InputTooCostlyError:
            return
    assert article is None or len(article.markdown) < 3_000_000


def test_deep_and_broken_sources_end() -> None:
    for body in ("{" * 100_000, r"\begin{itemize}\item " * 300, "$" * 50_001, r"\emph{" * 5_000):
        with parsing("the source", 10_000):
            try:
                read_tex_article(_document(body))
            except InputTooCostlyError:
                continue


def test_a_page_keeps_sections_maths_tables_and_notes() -> None:
    text = _article(
        """<section class="ltx_section"><h2 class="ltx_title"><span class="ltx_tag">2 </span>Model
</h2><p class="ltx_p">Nets<span class="ltx_note"><sup class="ltx_note_mark">1</sup><span
class="ltx_note_outer"><span class="ltx_note_content">See code.</span></span></span> &amp; <em
class="ltx_emph">more</em><span class="ltx_ERROR">\\bad</span>.</p>
<table class="ltx_equation ltx_eqn_table"><tr class="ltx_equation ltx_eqn_row"><td><math
alttext="\\displaystyle a%
=b" display="block"><mi>a</mi></math></td><td><span class="ltx_tag ltx_tag_equation">(3)</span>
</td></tr></table><ul><li><span class="ltx_tag ltx_tag_item">•</span><p>one</p><li>two</ul>
<figure class="ltx_table"><figcaption><span class="ltx_tag ltx_tag_table">Table 1: </span>Runs.
</figcaption><table class="ltx_tabular"><tr><td>a|b<td>2</table></figure></section>"""
    )
    assert "## 2 Model" in text
    assert "Nets (note: See code.) & *more*." in text
    assert r"$$a=b \tag{3}$$" in text
    assert "- one\n- two" in text
    assert "**Table 1.** Runs.\n\n| a\\|b | 2 |" in text


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<html><body><p>No HTML for this paper.</p></body></html>",
        "<article class='ltx_document'><p>Short.</p></article>",
        "<div>" * 100_000,
        "<table><tr><td>" * 2_000,
        "<script>" + "x" * 100_000,
    ],
)
def test_a_page_without_a_paper_is_none(page: str) -> None:
    with parsing("the page", 1_000_000):
        assert read_html_article(page) is None


def test_meta_elements_are_read_by_name() -> None:
    page = b'<meta charset="latin-1"><META NAME="Citation_PDF_URL" content="/a.pdf"><p>caf\xe9'
    root = parse_html(page)
    assert page_metas(root) == {"citation_pdf_url": "/a.pdf"}
    assert "café" in "".join(root.itertext())


def _archive(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    path.write_bytes(packed.getvalue())
    return path


def test_links_devices_and_names_that_lead_out_are_passed_over(tmp_path: Path) -> None:
    link = tarfile.TarInfo("link.tex")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    device = tarfile.TarInfo("device.tex")
    device.type = tarfile.CHRTYPE
    path = _archive(
        tmp_path / "a.source",
        (link, b""),
        (device, b""),
        (tarfile.TarInfo("../out.tex"), b"out"),
        (tarfile.TarInfo("/abs.tex"), b"abs"),
        (tarfile.TarInfo("main.tex"), rb"\documentclass{x}"),
        (tarfile.TarInfo("picture.png"), b"png"),
    )
    assert set(unpack_tex_source(path)) == {"main.tex"}


def test_archives_beyond_the_limits_are_refused(tmp_path: Path) -> None:
    many = _archive(
        tmp_path / "many.source", *((tarfile.TarInfo(f"{n}.tex"), b"x") for n in range(20))
    )
    with pytest.raises(TexArchiveError, match="more files"):
        unpack_tex_source(many, TexLimits(max_files=10))
    large = _archive(tmp_path / "large.source", (tarfile.TarInfo("a.tex"), b"x" * 5_000))
    with pytest.raises(TexArchiveError, match="larger"):
        unpack_tex_source(large, TexLimits(max_text_bytes=1_000))
    cut = tmp_path / "cut.source"
    cut.write_bytes(large.read_bytes()[:-20])
    with pytest.raises(TexArchiveError, match="breaks off"):
        unpack_tex_source(cut)
