"""The files that README and guide speak of, in an empty home: papers, a bibliography, notes and a
list of nodes.
"""

from __future__ import annotations

import calendar
from itertools import product
from pathlib import Path

from tests.services.pdf_files import make_pdf

_BRIDGES = ("blood viscosity", "platelet aggregation", "vascular reactivity")
_OTHERS = (
    "sleep",
    "memory",
    "corn yield",
    "bird song",
    "cell wall",
    "soil moisture",
    "tooth decay",
)
_METHODS = ("flow cytometry", "randomized trial", "confocal microscopy")

# Measured in more and more months: no two papers are equally long, so that none are equally good
# answers.
_MONTHS = calendar.month_name[1:]

_MARKDOWN = """\
---
title: "{title}"
authors: ["{author}"]
year: {year}
venue: {venue}
keywords: [{keywords}]
---
# Abstract

{abstract}
"""
_JATS = """\
<?xml version="1.0" encoding="UTF-8"?>
<article article-type="research-article"><front>
<journal-meta><journal-title-group><journal-title>Cold Medicine</journal-title></journal-title-group></journal-meta>
<article-meta><article-id pub-id-type="doi">10.5555/cold.1</article-id>
<title-group><article-title>Winter hands of 40 fishermen</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Marsh</surname><given-names>Cleo</given-names></name></contrib></contrib-group>
<pub-date><year>1984</year></pub-date><abstract><p>Fishermen had warm hands and low blood viscosity.</p></abstract>
</article-meta></front><body><sec><title>Results</title><p>Hands stayed warm.</p></sec></body></article>
"""  # noqa: E501
_REFERENCES = """\
@article{kucsko-2013,
  title = {Nanometre-scale thermometry in a living cell},
  author = {Kucsko, G. and Maurer, P. C. and Yao, N. Y. and Kubo, M.},
  journal = {Nature}, volume = {500}, pages = {54--58}, year = {2013}, doi = {10.1038/nature12373}
}
@article{swanson-1986,
  title = {Fish oil, {Raynaud's} syndrome, and undiscovered public knowledge},
  author = {Swanson, Don R.},
  journal = {Perspectives in Biology and Medicine}, volume = {30}, pages = {7--18}, year = {1986}
}
"""
_NOTES = {
    "viscosity.md": "---\ntitle: Measuring viscosity\ntags: [protocol]\n---\nKeep the room at 20 "
    "degrees for an hour first. See [[capsules]].\n",
    "capsules.md": "# Capsules\n\nThree grams a day, with a meal. #protocol\n",
}


def fill(home: Path) -> None:
    """Writes the files; everything in them was made up for this purpose, except the two
    references.
    """
    papers, notes = home / "papers", home / "notes"
    papers.mkdir(parents=True)
    notes.mkdir()
    for number, bridge in enumerate(_BRIDGES * 4):
        method, months = _METHODS[number % 3], ", ".join(_MONTHS[: number + 1])
        abstract = (
            f"Patients came in winter. We found that {bridge} is raised in Raynaud "
            f"disease. We used {method} in {months}."
        )
        _write(papers, f"raynaud-{number}", f"Raised {bridge} in Raynaud disease {number + 1}", "Ada Moor", 1970 + number,  # noqa: E501
               "Cold Medicine", ("Raynaud disease", bridge, method), abstract)  # fmt: skip
        abstract = (
            f"Volunteers took capsules. Fish oil lowered {bridge} but did not change "
            f"weight. We used {method} in {months}."
        )
        _write(papers, f"oil-{number}", f"Fish oil lowers {bridge} {number + 1}", "Ben Lind", 1971 + number,  # noqa: E501
               "Lipid Letters", ("fish oil", bridge, method), abstract)  # fmt: skip
    for number, (one, other) in enumerate(product(_OTHERS, _OTHERS)):
        if one != other:
            _write(papers, f"other-{number}", f"On {one} and {other}", "Eve Stone", 1969, "Field Notes", (one, other),  # noqa: E501
                   f"Here {one} met {other}.")  # fmt: skip
    (papers / "fishermen.xml").write_text(_JATS, encoding="utf-8")
    lines = [
        (20, "Warm rooms and cold fingers"),
        (11, "Fay Hill"),
        (12, "Abstract"),
        (11, "Warm rooms help in Raynaud disease."),
    ]
    (papers / "rooms.pdf").write_bytes(make_pdf([lines], title="Warm rooms and cold fingers"))
    for name, text in _NOTES.items():
        (notes / name).write_text(text, encoding="utf-8")
    (home / "refs.bib").write_text(_REFERENCES, encoding="utf-8")


def _write(
    folder: Path,
    name: str,
    title: str,
    author: str,
    year: int,
    venue: str,
    keywords: tuple[str, ...],
    abstract: str,
) -> None:
    text = _MARKDOWN.format(
        title=title,
        author=author,
        year=year,
        venue=venue,
        keywords=", ".join(keywords),
        abstract=abstract,
    )
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
