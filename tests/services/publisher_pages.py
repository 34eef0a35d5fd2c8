"""First pages as publishers set them, with what each says of itself.

Places, sizes and wording follow the publishers' layouts; titles, people and numbers are made up.
Every page also has a DOI that is not its own: of data, of a cited work, of a comment.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.services.placed_pdf import Put, make_placed_pdf, put_block

TITLE = "Slow rivers carry more sand than fast ones in winter"
PEOPLE = ("Ana Gómez", "Peter J. O’Neill", "Li Wei")
PROSE = (
    "We measured the sand that is carried by forty rivers of three countries over ten winters",
    "and found that slow rivers carry more of it than fast ones, which was not expected from",
    "earlier work on the transport of sand. The difference is largest where the bed is wide and",
    "smallest where ice covers the water for many weeks. We discuss what this means for bridges",
    "and for those who look after them, and how further measurements could be made at low cost.",
)
NARROW = (
    "Rivers carry sand and other matter from the",
    "hills to the sea, and how much they carry has",
    "been measured for a long time by many people",
    "in many places, with instruments that were",
    "made for other ends than the one that we have",
    "in mind here, so that errors cannot be known",
    "(Smith et al., 2001, doi:10.5555/cited.one).",
    "Data are available from the repository at",
    "https://doi.org/10.5061/dryad.k98sf",
)


@dataclass(frozen=True)
class PublisherPage:
    """A layout and the fields that are printed on it; None is not printed."""

    lines: list[Put]
    doi: str | None = None
    year: str | None = None
    venue: str | None = None
    volume: str | None = None
    pages: str | None = None
    arxiv_id: str | None = None
    title: str = TITLE
    authors: tuple[str, ...] = PEOPLE
    keywords: tuple[str, ...] = ()
    xmp: str = ""
    links: tuple[str, ...] = ()
    information: dict[str, str] = field(default_factory=dict)

    def write(self) -> bytes:
        """The PDF: this page and two of text."""
        text = [
            *put_block(50, 100, 9.5, PROSE * 6),
            Put(50, 40, 8, "A. Gómez and others"),
        ]
        return make_placed_pdf(
            [self.lines, text, text],
            xmp=self.xmp,
            links=self.links,
            information=self.information,
        )


def _two_columns(y: float, size: float = 9.5) -> list[Put]:
    return [*put_block(50, y, size, NARROW * 2), *put_block(310, y, size, NARROW * 2)]


def elsevier() -> PublisherPage:
    return PublisherPage(
        [
            Put(220, 40, 8, "Journal of Hydrology 568 (2019) 101–109"),
            Put(215, 70, 8, "Contents lists available at ScienceDirect"),
            Put(230, 100, 14, "Journal of Hydrology"),
            Put(200, 125, 8, "journal homepage: www.elsevier.com/locate/jhydrol"),
            Put(50, 165, 13.4, TITLE),
            Put(50, 190, 10.5, "Ana Gómez^a,*^, Peter J. O’Neill^b^, Li Wei^a^"),
            Put(50, 205, 6.5, "^a^Department of Hydrology, University of Exampleton, Spain", "i"),
            Put(50, 214, 6.5, "^b^Institute for River Research, Cork, Ireland", "i"),
            Put(50, 240, 8, "A R T I C L E  I N F O"),
            Put(220, 240, 8, "A B S T R A C T"),
            Put(50, 256, 7, "Keywords:", "i"),
            *put_block(50, 266, 7, ["Sand", "Rivers", "Winter transport"]),
            *put_block(220, 256, 7.5, PROSE),
            Put(50, 340, 8.5, "1. Introduction", "b"),
            *_two_columns(356, 8.5),
            Put(60, 700, 6.5, "* Corresponding author."),
            Put(60, 709, 6.5, "E-mail address: ana@hydro.example (A. Gómez)."),
            Put(50, 750, 6.5, "https://doi.org/10.1016/j.jhydrol.2019.01.001"),
            Put(50, 759, 6.5, "Received 3 March 2018; Accepted 2 January 2019"),
            Put(50, 768, 6.5, "Available online 10 January 2019"),
            Put(50, 777, 6.5, "0022-1694/© 2019 Elsevier B.V. All rights reserved."),
        ],
        doi="10.1016/j.jhydrol.2019.01.001",
        year="2019",
        venue="Journal of Hydrology",
        volume="568",
        pages="101-109",
        keywords=("Sand", "Rivers", "Winter transport"),
    )


def springer() -> PublisherPage:
    return PublisherPage(
        [
            Put(50, 40, 8, "Int J River Res (2015) 115:211–252"),
            Put(50, 50, 8, "DOI 10.1007/s11263-015-0816-y"),
            Put(50, 100, 14, "Slow rivers carry more sand than fast ones", "b"),
            Put(50, 117, 14, "in winter", "b"),
            Put(50, 150, 10, "Ana Gómez^1^ · Peter J. O’Neill^2^ · Li Wei^1^", "b"),
            Put(
                50,
                190,
                8,
                "Received: 3 May 2014 / Accepted: 2 February 2015 / "
                "Published online: 11 April 2015",
            ),
            Put(50, 200, 8, "© Springer Science+Business Media New York 2015"),
            Put(50, 230, 9.5, "Abstract", "b"),
            *put_block(92, 230, 9.5, PROSE[:1]),
            *put_block(50, 242, 9.5, PROSE[1:]),
            Put(50, 310, 9.5, "Keywords", "b"),
            Put(98, 310, 9.5, "Sand · Rivers · Winter transport"),
            *_two_columns(350),
        ],
        doi="10.1007/s11263-015-0816-y",
        year="2015",
        venue="Int J River Res",
        volume="115",
        pages="211-252",
        keywords=("Sand", "Rivers", "Winter transport"),
    )


def plos() -> PublisherPage:
    return PublisherPage(
        [
            Put(200, 80, 9, "RESEARCH ARTICLE", "s"),
            Put(200, 110, 18, "Slow rivers carry more sand than", "sb"),
            Put(200, 132, 18, "fast ones in winter", "sb"),
            Put(200, 160, 10, "Ana Gómez^1^*, Peter J. O’Neill^2^, Li Wei^1^", "sb"),
            Put(
                200,
                180,
                8,
                "1 Department of Hydrology, University of Exampleton, Madrid, Spain, "
                "2 Institute for",
                "s",
            ),
            Put(200, 190, 8, "River Research, Cork, Ireland", "s"),
            Put(200, 210, 8, "* ana@hydro.example", "s"),
            Put(200, 250, 14, "Abstract", "sb"),
            *put_block(200, 270, 9, [line[:70] for line in PROSE] * 2),
            Put(50, 300, 7, "OPEN ACCESS", "sb"),
            *put_block(
                50,
                315,
                7,
                [
                    "Citation: Gómez A, O’Neill PJ, Wei L",
                    "(2019) Slow rivers carry more sand",
                    "than fast ones in winter. PLoS ONE",
                    "14(3): e0212345. https://doi.org/",
                    "10.1371/journal.pone.0212345",
                ],
                "s",
            ),
            *put_block(
                50, 370, 7, ["Editor: Jane Roe, University of Tests,", "UNITED STATES"], "s"
            ),
            Put(50, 395, 7, "Received: August 1, 2018", "s"),
            Put(50, 410, 7, "Published: March 5, 2019", "s"),
            *put_block(
                50,
                430,
                7,
                [
                    "Data Availability Statement: All data",
                    "are available from Dryad (https://",
                    "doi.org/10.5061/dryad.k98sf).",
                ],
                "s",
            ),
            Put(50, 800, 7, "PLOS ONE | https://doi.org/10.1371/journal.pone.0212345", "s"),
            Put(300, 800, 7, "March 5, 2019", "s"),
        ],
        doi="10.1371/journal.pone.0212345",
        year="2019",
    )


def elife() -> PublisherPage:
    return PublisherPage(
        [
            Put(190, 60, 9, "RESEARCH ARTICLE", "sb"),
            Put(190, 110, 20, "Slow rivers carry more sand than", "sb"),
            Put(190, 134, 20, "fast ones in winter", "sb"),
            Put(190, 165, 10, "Ana Gómez^1^*, Peter J. O’Neill^2^, Li Wei^1^", "sb"),
            Put(
                190,
                185,
                8,
                "^1^Department of Hydrology, University of Exampleton, Madrid, Spain; ^2^Institute",
                "s",
            ),
            Put(190, 195, 8, "for River Research, Cork, Ireland", "s"),
            Put(190, 240, 9, "Abstract", "sb"),
            *put_block(232, 240, 9, PROSE[:1], "s"),
            *put_block(190, 252, 9, [line[:75] for line in PROSE[1:]], "s"),
            Put(190, 330, 12, "Introduction", "sb"),
            *put_block(190, 350, 9.5, [line[:75] for line in PROSE] * 4),
            Put(50, 400, 7, "*For correspondence:", "s"),
            Put(50, 410, 7, "ana@hydro.example", "s"),
            Put(50, 430, 7, "Received: 01 August 2018", "s"),
            Put(50, 440, 7, "Published: 05 March 2019", "s"),
            Put(
                50,
                800,
                7,
                "Gómez et al. eLife 2019;8:e12345. DOI: https://doi.org/10.7554/eLife.12345",
                "s",
            ),
            Put(500, 800, 7, "1 of 20", "s"),
        ],
        doi="10.7554/elife.12345",
        year="2019",
    )


def nature() -> PublisherPage:
    return PublisherPage(
        [
            Put(50, 45, 16, "Article", "sb"),
            Put(50, 90, 22, "Slow rivers carry more sand than fast", "b"),
            Put(50, 116, 22, "ones in winter", "b"),
            Put(50, 150, 7, "https://doi.org/10.1038/s41586-019-1666-5", "s"),
            Put(50, 165, 7, "Received: 22 July 2018", "s"),
            Put(50, 177, 7, "Accepted: 20 September 2019", "s"),
            Put(50, 189, 7, "Published online: 23 October 2019", "s"),
            Put(230, 150, 9, "Ana Gómez^1^, Peter J. O’Neill^2^ & Li Wei^1^", "b"),
            *put_block(230, 210, 9.5, [line[:70] for line in PROSE] * 2, "b"),
            *_two_columns(420, 9),
            Put(
                50,
                790,
                6.5,
                "^1^Department of Hydrology, University of Exampleton, Madrid, Spain.",
                "s",
            ),
            Put(50, 815, 7, "Nature | Vol 574 | 24 October 2019 | 505", "s"),
        ],
        doi="10.1038/s41586-019-1666-5",
        year="2019",
        venue="Nature",
        volume="574",
    )


def ieee_transactions() -> PublisherPage:
    return PublisherPage(
        [
            Put(50, 35, 7, "IEEE TRANSACTIONS ON RIVERS, VOL. 12, NO. 3, MARCH 2019", "s"),
            Put(540, 35, 7, "505", "s"),
            Put(90, 90, 24, "Slow rivers carry more sand than"),
            Put(190, 118, 24, "fast ones in winter"),
            Put(90, 150, 11, "Ana Gómez, Member, IEEE, Peter J. O’Neill, and Li Wei, Fellow, IEEE"),
            Put(50, 190, 9, "Abstract—We measured the sand that is carried by", "b"),
            *put_block(50, 201, 9, [*NARROW[:6], "rivers."], "b"),
            Put(50, 290, 9, "Index Terms—Sand, rivers, winter.", "b"),
            Put(130, 320, 10, "I. INTRODUCTION"),
            *put_block(50, 340, 10, NARROW * 2),
            *put_block(310, 190, 10, NARROW * 3),
            Put(60, 700, 8, "Manuscript received August 1, 2018; accepted January 2,"),
            Put(50, 710, 8, "2019. This work was supported by the River Fund."),
            Put(60, 722, 8, "A. Gómez is with the University of Exampleton, Madrid."),
            Put(60, 734, 8, "Digital Object Identifier 10.1109/TRIV.2019.2901234"),
        ],
        doi="10.1109/triv.2019.2901234",
        year="2019",
        venue="IEEE TRANSACTIONS ON RIVERS",
        volume="12",
        keywords=("Sand", "rivers", "winter"),
    )


def mdpi() -> PublisherPage:
    return PublisherPage(
        [
            Put(180, 90, 10, "Article", "i"),
            Put(180, 115, 18, "Slow rivers carry more sand than", "b"),
            Put(180, 136, 18, "fast ones in winter", "b"),
            Put(180, 165, 10, "Ana Gómez ^1,*^, Peter J. O’Neill ^2^ and Li Wei ^1^", "b"),
            Put(
                195, 190, 8, "^1^ Department of Hydrology, University of Exampleton, Madrid, Spain"
            ),
            Put(195, 200, 8, "^2^ Institute for River Research, Cork, Ireland"),
            Put(195, 210, 8, "^*^ Correspondence: ana@hydro.example"),
            Put(180, 240, 9.5, "Abstract: We measured the sand that is carried by forty rivers"),
            *put_block(180, 252, 9.5, [line[:72] for line in PROSE[1:]]),
            Put(180, 320, 9.5, "Keywords: sand; rivers; winter transport"),
            Put(180, 360, 10, "1. Introduction", "b"),
            *put_block(180, 378, 10, [line[:72] for line in PROSE] * 3),
            *put_block(
                50,
                400,
                7,
                [
                    "Citation: Gómez, A.; O’Neill, P.J.;",
                    "Wei, L. Slow rivers carry more sand",
                    "than fast ones in winter. Rivers",
                    "2021, 21, 1234. https://doi.org/",
                    "10.3390/r21041234",
                ],
            ),
            Put(50, 450, 7, "Received: 1 August 2020"),
            Put(50, 460, 7, "Published: 10 February 2021"),
            Put(50, 790, 7, "Rivers 2021, 21, 1234. https://doi.org/10.3390/r21041234"),
        ],
        doi="10.3390/r21041234",
        year="2021",
        venue="Rivers",
        volume="21",
        keywords=("sand", "rivers", "winter transport"),
    )


def frontiers() -> PublisherPage:
    return PublisherPage(
        [
            Put(420, 60, 7, "ORIGINAL RESEARCH", "s"),
            Put(420, 70, 7, "published: 12 March 2020", "s"),
            Put(420, 80, 7, "doi: 10.3389/friv.2020.00123", "s"),
            Put(180, 130, 18, "Slow rivers carry more sand than", "sb"),
            Put(180, 151, 18, "fast ones in winter", "sb"),
            Put(180, 180, 10, "Ana Gómez^1^*, Peter J. O’Neill^2^ and Li Wei^1^", "i"),
            Put(180, 200, 7.5, "^1^ Department of Hydrology, University of Exampleton, Spain", "s"),
            *put_block(180, 240, 9.5, [line[:72] for line in PROSE], "s"),
            Put(180, 310, 8, "Keywords: sand, rivers, winter transport", "s"),
            Put(180, 350, 11, "INTRODUCTION", "sb"),
            *put_block(180, 370, 9.5, [line[:72] for line in PROSE] * 4),
            *put_block(
                50,
                500,
                7,
                [
                    "Citation:",
                    "Gómez A, O’Neill PJ and Wei L",
                    "(2020) Slow rivers carry more sand",
                    "than fast ones in winter.",
                    "Front. Riv. 11:123.",
                    "doi: 10.3389/friv.2020.00123",
                ],
                "s",
            ),
            Put(50, 815, 7, "Frontiers in Rivers | www.frontiersin.org", "s"),
        ],
        doi="10.3389/friv.2020.00123",
        year="2020",
        keywords=("sand", "rivers", "winter transport"),
    )


def wiley() -> PublisherPage:
    return PublisherPage(
        [
            Put(50, 40, 8, "Received: 3 May 2018    Revised: 2 June 2018    Accepted: 5 July 2018"),
            Put(50, 54, 8, "DOI: 10.1002/riv.1234"),
            Put(50, 80, 10, "R E S E A R C H  A R T I C L E", "s"),
            Put(50, 110, 18, "Slow rivers carry more sand than fast", "sb"),
            Put(50, 131, 18, "ones in winter", "sb"),
            Put(50, 160, 11, "Ana Gómez^1^ | Peter J. O’Neill^2^ | Li Wei^1^", "s"),
            Put(50, 190, 8, "^1^Department of Hydrology, University of Exampleton, Spain", "s"),
            Put(50, 200, 8, "Correspondence", "sb"),
            Put(50, 210, 8, "Ana Gómez, Department of Hydrology. Email: ana@hydro.example", "s"),
            Put(220, 240, 10, "Abstract", "sb"),
            *put_block(220, 254, 9, [line[:66] for line in PROSE], "s"),
            *_two_columns(340),
            Put(50, 810, 7, "J Riv. 2018;12:101–109.", "s"),
            Put(250, 810, 7, "wileyonlinelibrary.com/journal/riv", "s"),
            Put(440, 810, 7, "© 2018 John Wiley & Sons, Ltd.", "s"),
        ],
        doi="10.1002/riv.1234",
        year="2018",
        venue="J Riv",
        volume="12",
        pages="101-109",
    )


def bmc() -> PublisherPage:
    return PublisherPage(
        [
            Put(50, 40, 8, "Gómez et al. BMC Rivers           (2019) 20:123"),
            Put(50, 50, 8, "https://doi.org/10.1186/s12864-019-0123-4"),
            Put(50, 90, 10, "RESEARCH ARTICLE", "s"),
            Put(460, 90, 10, "Open Access", "s"),
            Put(50, 125, 18, "Slow rivers carry more sand than fast", "sb"),
            Put(50, 147, 18, "ones in winter", "sb"),
            Put(50, 175, 10, "Ana Gómez^1*^, Peter J. O’Neill^2^ and Li Wei^1^", "s"),
            Put(50, 220, 10, "Abstract", "sb"),
            *put_block(50, 236, 9.5, ["Background: " + PROSE[0], *PROSE[1:]]),
            Put(50, 310, 9.5, "Keywords: Sand, Rivers, Winter transport"),
            *_two_columns(350),
            Put(50, 760, 7, "© The Author(s). 2019 Open Access This article is distributed under"),
        ],
        doi="10.1186/s12864-019-0123-4",
        year="2019",
        keywords=("Sand", "Rivers", "Winter transport"),
    )


def acm() -> PublisherPage:
    return PublisherPage(
        [
            Put(75, 90, 17, "Slow rivers carry more sand than fast ones in", "b"),
            Put(260, 110, 17, "winter", "b"),
            Put(90, 140, 12, "Ana Gómez"),
            Put(65, 154, 10, "University of Exampleton"),
            Put(95, 166, 10, "Madrid, Spain"),
            Put(75, 178, 10, "ana@hydro.example"),
            Put(250, 140, 12, "Peter J. O’Neill"),
            Put(225, 154, 10, "Institute for River Research"),
            Put(265, 166, 10, "Cork, Ireland"),
            Put(450, 140, 12, "Li Wei"),
            Put(420, 154, 10, "University of Exampleton"),
            Put(450, 166, 10, "Madrid, Spain"),
            Put(50, 220, 11, "ABSTRACT", "b"),
            *put_block(50, 236, 9, NARROW[:6]),
            Put(50, 320, 11, "CCS CONCEPTS", "b"),
            Put(50, 350, 11, "KEYWORDS", "b"),
            Put(50, 364, 9, "sand, rivers, winter transport"),
            Put(50, 385, 8, "ACM Reference Format:", "b"),
            *put_block(
                50,
                396,
                8,
                [
                    "Ana Gómez, Peter J. O’Neill, and Li Wei. 2019. Slow rivers",
                    "carry more sand than fast ones in winter. In Proceedings of",
                    "Rivers ’19. ACM, New York, NY, USA, 9 pages. https://doi.org/",
                    "10.1145/3313831.3376234",
                ],
            ),
            *put_block(
                50,
                640,
                7,
                [
                    "Permission to make digital or hard copies of all or part of this work",
                    "for personal or classroom use is granted without fee.",
                    "Rivers ’19, May 4–9, 2019, Glasgow, Scotland Uk",
                    "© 2019 Association for Computing Machinery.",
                    "ACM ISBN 978-1-4503-5970-2/19/05. . . $15.00",
                    "https://doi.org/10.1145/3313831.3376234",
                ],
            ),
            *put_block(310, 220, 9, NARROW * 4),
        ],
        doi="10.1145/3313831.3376234",
        year="2019",
        keywords=("sand", "rivers", "winter transport"),
    )


def arxiv() -> PublisherPage:
    return PublisherPage(
        [
            Put(30, 560, 20, "arXiv:1901.01234v2 [physics.geo-ph] 6 Dec 2019", angle=90),
            Put(105, 120, 17, "Slow rivers carry more sand than fast ones in"),
            Put(265, 140, 17, "winter"),
            Put(130, 175, 12, "Ana Gómez^1^, Peter J. O’Neill^2^, and Li Wei^1^"),
            Put(190, 195, 9, "^1^Department of Hydrology, University of Exampleton"),
            Put(200, 207, 9, "^2^Institute for River Research, Cork, Ireland"),
            Put(270, 260, 10, "Abstract", "b"),
            *put_block(120, 276, 9, [line[:78] for line in PROSE]),
            Put(80, 350, 14, "1   Introduction", "b"),
            *put_block(80, 372, 10, PROSE * 4),
        ],
        arxiv_id="1901.01234",
        year="2019",
    )


def stated_in_xmp() -> PublisherPage:
    """A manuscript without a printed DOI, whose publisher wrote it into the file."""
    return PublisherPage(
        [
            Put(80, 100, 16, TITLE),
            Put(180, 130, 12, "Ana Gómez, Peter J. O’Neill, Li Wei"),
            Put(80, 180, 10, "Abstract", "b"),
            *put_block(80, 196, 10, PROSE),
            Put(80, 300, 12, "References", "b"),
            Put(80, 320, 9, "[1] Smith. On sand. https://doi.org/10.5555/cited.two"),
        ],
        doi="10.1234/xmp.1",
        year="2017",
        venue="Annals of Rivers",
        volume="7",
        pages="11-19",
        xmp=(
            '<?xpacket begin=""?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description '
            'prism:publicationName="Annals of Rivers" prism:volume="7" prism:startingPage="11" '
            'prism:endingPage="19" prism:coverDate="2017-05-01">'
            "<prism:doi>10.1234/XMP.1</prism:doi></rdf:Description></rdf:RDF></x:xmpmeta>"
        ),
    )


LAYOUTS = (
    elsevier,
    springer,
    plos,
    elife,
    nature,
    ieee_transactions,
    mdpi,
    frontiers,
    wiley,
    bmc,
    acm,
    arxiv,
    stated_in_xmp,
)
