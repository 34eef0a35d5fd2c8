"""What the judge files as faults of citeproc-js: narrow, and each with the sentence it misses."""

from dataclasses import replace

from benchmarks.citation_judge.cite_faults import CITE_FAULTS
from benchmarks.citation_judge.jobs import Job
from benchmarks.citation_judge.small_faults import SMALL_FAULTS
from benchmarks.citation_judge.theirs import FAULTS, find_fault

STYLE = (
    '<style class="in-text"><citation collapse="year"><sort/><layout>'
    '<label variable="issue" form="short"/></layout></citation></style>'
)
ITEM = {"id": "1", "type": "book", "title": "T", "author": [{"family": "Doe", "given": "Ann"}]}


def _job() -> Job:
    return Job(STYLE, "en-US", [ITEM], [{"note": 1, "items": [{"id": "1"}]}])


def test_other_words_are_no_fault_of_citeproc_js() -> None:
    for ours, theirs in (
        ("Doe 2001", "Roe 2001"),
        ("Doe 2001", "Doe 2002"),
        ("Doe", "Doe and Roe"),
        ("Doe", "Doe, Title"),
        ("A title", "A Title"),
        ("Doe, 2001", "Doe 2001"),
        ("(Doe)", "[Doe]"),
        ("2001a", "2001b"),
    ):
        assert find_fault(_job(), ours, theirs) is None, (ours, theirs)


def test_a_label_of_nothing_is_recognised_by_the_words_of_the_locale() -> None:
    found = find_fault(_job(), "Doe, 2001", "Doe, no. 2001")
    assert found is not None
    assert found.name == "label of nothing"
    joined = find_fault(_job(), "Doe 20011–9", "Doe 2001, no. 1–9")
    assert joined is not None
    assert joined.name == "label of nothing"


def test_faults_have_names_of_their_own_and_quote_what_they_miss() -> None:
    known = [*FAULTS, *CITE_FAULTS, *SMALL_FAULTS]
    assert len({fault.name for fault in known}) == len(known)
    assert [fault.name for fault in known if fault.misses and "“" not in fault.misses] == []


DATED = {"date-parts": [[2001, 12, 30], [2002, 1, 2]]}


def _dated() -> Job:
    return Job(STYLE, "en-US", [{**ITEM, "issued": DATED}], _job().clusters)


def test_signs_are_lost_only_in_the_second_date_of_a_range() -> None:
    lost = find_fault(_dated(), "T. 30 May–2 June 2002.", "T. 30 May–2June2002.")
    assert lost is not None
    assert lost.name == "signs lost in a date range"
    assert find_fault(_dated(), "T. 2001;.", "T. 2001;") is None
    assert find_fault(_dated(), "J. Doe, 2001–2002", "J Doe, 2001–2002") is None


def test_a_letter_apart_excuses_nothing_else() -> None:
    apart = find_fault(_job(), "Doe (2001b). T", "Doe (2001)(b). T")
    assert apart is not None
    assert apart.name == "year letter apart"
    assert find_fault(_job(), "D’Alembert (2001b). T", "D’alembert (2001)(b). T") is None


def test_a_repeated_year_is_one_of_the_same_work() -> None:
    other = {**ITEM, "id": "2", "issued": {"date-parts": [[2001]]}}
    first = {**other, "id": "1"}
    text = STYLE.replace('collapse="year"', 'collapse="year-suffix"')
    twice = [{"note": 1, "items": [{"id": "1"}, {"id": "1"}]}]
    both = [{"note": 1, "items": [{"id": "1"}, {"id": "2"}]}]
    same, different = (Job(text, "en-US", [first, other], each) for each in (twice, both))
    found = find_fault(same, "Doe 2001, 2001, see", "Doe 2001, see")
    assert found is not None
    assert found.name == "rest of a repeated year"
    assert find_fault(different, "Doe 2001, 2001, see", "Doe 2001, see") is None
    assert find_fault(different, "A 2001; A 2001", "A 2001, A 2001") is None


def test_initials_are_no_repeated_names() -> None:
    three = [{"note": 1, "items": [{"id": "1"}, {"id": "1"}, {"id": "1"}]}]
    job = Job(STYLE, "en-US", [ITEM], three)
    assert find_fault(job, "Doe, A. 2001", "Doe, Ann 2001") is None


def test_what_a_date_looks_like_is_excused_by_writing_it_without() -> None:
    dates = (
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><info/>'
        '<citation><layout><date variable="issued" form="text" date-parts="year"'
        ' font-weight="bold"/></layout></citation></style>'
    )
    job = Job(dates, "en-US", [{**ITEM, "issued": {"date-parts": [[2001]]}}], _job().clusters)
    found = find_fault(job, "<b>2001</b>", "2001")
    assert found is not None
    assert found.name == "looks of a date lost"
    assert find_fault(job, "<b>2001</b>", "2002") is None


def _plain_style(inner: str, **attributes: str) -> str:
    given = "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return (
        '<style xmlns="http://purl.org/net/xbiblio/csl" class="in-text" version="1.0"><info/>'
        f"<citation{given}><layout>{inner}</layout></citation></style>"
    )


def _name_of(job: Job, ours: str, theirs: str) -> str:
    fault = find_fault(job, ours, theirs)
    return fault.name if fault is not None else ""


def test_title_case_is_excused_in_fields_that_it_never_asks_the_language_of() -> None:
    titles = _plain_style(
        '<text variable="reviewed-title" text-case="title"/> <text variable="title"/>'
    )
    item = {**ITEM, "reviewed-title": "das Buch hier", "title": "ein Titel", "language": "de"}
    job = Job(titles, "en-US", [item], _job().clusters)
    name = "title case for another language"
    assert _name_of(job, "das Buch hierein Titel", "Das Buch Hierein Titel") == name
    assert _name_of(job, "das Buch hierein Titel", "das Buch hierEin Titel") == ""


def test_sentence_case_is_excused_in_names_alone() -> None:
    part = '<name-part name="family" text-case="sentence"/>'
    names = _plain_style(f'<names variable="author"><name>{part}</name></names>')
    item = {**ITEM, "title": "Tea", "author": [{"family": "D'Alembert", "given": "McAnn"}]}
    job = Job(names, "en-US", [item], _job().clusters)
    assert _name_of(job, "McAnn D’Alembert", "McAnn D’alembert") == "names in sentence case lowered"
    assert _name_of(job, "McAnn D’Alembert", "Mcann D’alembert") == ""


def test_a_letter_is_excused_behind_the_words_of_a_date() -> None:
    job = Job(STYLE, "en-US", [{**ITEM, "issued": {"literal": "in press"}}], _job().clusters)
    assert _name_of(job, "Doe in press", "Doe in pressa") == "letter of a year behind words"
    assert _name_of(job, "Doe 2001", "Doe 2001a") == ""


def test_a_second_year_is_excused_where_it_repeats_a_range() -> None:
    job = Job(STYLE.replace('"year"', '"year-suffix"'), "en-US", [ITEM], _job().clusters)
    name = "second year of a repeated range"
    assert _name_of(job, "Doe 2001–2003", "Doe 2001–2003, –2003") == name
    assert _name_of(job, "Doe 2001–2003", "Doe 2001–2003, –2004") == ""
    assert _name_of(_job(), "Doe 2001–2003", "Doe 2001–2003, –2003") == ""


def test_fonts_of_names_are_excused_where_a_part_of_a_name_is_upright() -> None:
    part = '<name-part name="family" font-variant="normal"/>'
    names = '<names variable="author" font-variant="small-caps"><name>{}</name></names>'
    job = Job(_plain_style(names.format(part)), "en-US", [ITEM], _job().clusters)
    other = Job(_plain_style(names.format("")), "en-US", [ITEM], _job().clusters)
    ours = (
        '<span style="font-variant:small-caps;">Ann '
        '<span style="font-variant:normal;">Doe</span></span>'
    )
    theirs = '<span style="font-variant:small-caps;">Ann Doe</span>'
    assert _name_of(job, ours, theirs) == "fonts of names kept"
    assert _name_of(other, ours, theirs) == ""
    assert _name_of(job, ours, "<i>Ann Doe</i>") == ""


def test_words_of_a_term_are_excused_beside_nothing() -> None:
    job = Job(_plain_style('<text term="no date"/>'), "en-US", [ITEM], _job().clusters)
    assert _name_of(job, "(Doe)", "(Doe, no date)") == "words beside nothing"
    assert _name_of(job, "(Doe)", "(Doe, accessed)") == ""


def test_ibid_behind_two_cites_is_excused_by_what_one_cite_would_say() -> None:
    again = (
        '<choose><if position="ibid"><text value="Again"/></if>'
        '<else><text variable="title"/></else></choose>'
    )
    cite = {"id": "1"}
    single = {"note": 2, "items": [cite]}
    twice = Job(_plain_style(again), "en-US", [ITEM], [{"note": 1, "items": [cite] * 2}, single])
    once = Job(_plain_style(again), "en-US", [ITEM], [{"note": 1, "items": [cite]}, single])
    assert _name_of(twice, "T", "Again") == "ibid behind two cites"
    assert _name_of(twice, "T", "Tea") == ""
    assert _name_of(once, "T", "Again") == ""


def test_the_order_of_names_by_language_is_recognised_only_where_the_language_says_so() -> None:
    name = {"family": "Tanaka", "given": "Hiroshi"}
    item = {"id": "t", "type": "book", "title": "T", "author": [name]}
    clusters = [{"note": 1, "items": [{"id": "t"}]}]
    job = Job("apa", "en-US", [{**item, "language": "ja"}], clusters)
    ours, theirs = "Tanaka, H. (n.d.). T.", "Tanaka H. (n.d.). T."
    found = find_fault(job, ours, theirs)
    assert found is not None
    assert found.name == "order of names by the language of the work"
    other = find_fault(replace(job, items=[{**item, "language": "de"}]), ours, theirs)
    assert other is None or other.name != found.name
