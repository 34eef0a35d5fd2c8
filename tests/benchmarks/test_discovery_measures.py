"""The rules by which discovery is measured: slices, samples, names and fits."""

from pathlib import Path
from random import Random

from benchmarks.bench_discovery import names_of, titled_files
from benchmarks.keyword_pairs import ListedPairs, area_under_curve, earlier_slice, listed_slice
from benchmarks.validate_discovery import logistic
from carrel.libraries.discovery import Paper
from carrel.libraries.discovery.concepts.vocabulary import Vocabulary
from carrel.libraries.discovery.records import Term


def papers() -> list[Paper]:
    names = ("corn", "moss", "fern", "reed")
    old = [
        Paper(f"{name}-{n}", f"On {name}", keywords=(name, "soil"), year=2001)
        for name in names
        for n in range(5)
    ]
    return [
        *old,
        Paper("later", "On both", keywords=("corn", "moss"), year=2004),
        Paper("last", "", keywords=("fern", "reed"), year=2009),
    ]


def test_a_slice_takes_pairs_of_its_own_years_and_ends_where_no_more_can_be_drawn() -> None:
    found = earlier_slice(papers(), up_to=2002, since=2004, until=2005)
    key = found.reader.index.key
    assert {frozenset(map(key, pair)) for pair in found.joined} == {frozenset({"corn", "moss"})}
    apart = {frozenset(map(key, pair)) for pair in found.apart}
    assert frozenset({"fern", "reed"}) in apart
    assert len(apart) == 5
    assert not any("soil" in pair or pair == {"corn", "moss"} for pair in apart)


def test_the_header_of_a_listed_slice_says_where_the_papers_before_end(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(
        "kw_a\tkw_c\tn_papers_2004plus\tn_bridges_upto2002\ncorn\tmoss\t1\t1\n", encoding="utf-8"
    )
    listed = ListedPairs.read(path)
    assert (listed.up_to, listed.pairs) == (2002, (("corn", "moss"),))
    found = listed_slice(listed, papers())
    assert len(found.reader.index) == 20
    assert len(found.apart) == 4


def test_the_area_is_the_share_of_pairs_in_the_right_order() -> None:
    assert area_under_curve([3.0, 1.0], [2.0, 0.0]) == 0.75
    assert area_under_curve([1.0], [1.0]) == 0.5


def test_a_fit_finds_the_weights_that_made_the_answers() -> None:
    random = Random(5)
    rows = []
    for _ in range(4000):
        one, other = random.gauss(0, 1), random.gauss(0, 1)
        rows.append(((one, other, 1.0), float(2 * one - other + random.gauss(0, 1.6) > 0.5), 1.0))
    weights = logistic(rows)
    assert -2.3 < weights[0] / weights[1] < -1.7
    assert weights[2] < 0


def test_a_literature_is_known_by_its_file_under_any_name_of_its_subject(tmp_path: Path) -> None:
    (tmp_path / "marine_oil_titles.psv.gz").touch()
    (tmp_path / "other_titles_mesh.psv.gz").touch()
    assert list(titled_files(tmp_path, "_titles.psv.gz")) == ["marine oil"]
    vocabulary = Vocabulary([Term("1", "Fish Oils", ("Oils, Marine", "Marine Oil Extract"))])
    assert any("marine oil" in name for name in names_of(("Fish Oils",), vocabulary))
    assert not any("marine oil" in name for name in names_of(("Fish Oils",), None))
