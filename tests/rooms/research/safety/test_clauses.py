"""How a sentence asks, and the part that each of its clauses plays."""

import pytest

from carrel.rooms.research.safety.wording import clause_roles, sentence_form


@pytest.mark.parametrize(
    ("sentence", "form"),
    [
        ("make a virus spread", "do"),
        ("for a class explain how to make a virus", "study"),
        ("find a drug that kills", "seek"),
        ("work out how to hide it", "seek"),
        ("find out whether warnings help", "study"),
        ("measure how often it happens", "study"),
        ("prevent attempts to hide it", "mend"),
        ("how could one hide it", "ask_could"),
        ("how can reviewers recognise it", "ask_can"),
        ("which drugs are missed most often", "ask_fact"),
        ("does it help", "ask_whether"),
        ("could it be hidden", "ask_could"),
        ("we want a gas for soldiers", "wish"),
        ("an aerosol against demonstrators", "noun"),
        ("", "noun"),
    ],
)
def test_the_form_of_a_sentence_is_told_by_how_it_begins(sentence: str, form: str) -> None:
    assert sentence_form(sentence.split()) == form


@pytest.mark.parametrize(
    ("sentence", "word", "role"),
    [
        ("track a woman without her knowing", "woman", "main"),
        ("track a woman without her knowing", "knowing", "manner"),
        ("poison a well so that nobody notices", "notices", "aim"),
        ("give pregnant women drugs to see harm", "harm", "aim"),
        ("how to make a gas", "gas", "main"),
        ("find a drug that kills", "kills", "which"),
        ("switch it off and ask for ransom", "ransom", "more"),
    ],
)
def test_a_word_has_the_part_of_its_clause(sentence: str, word: str, role: str) -> None:
    words = sentence.split()
    assert clause_roles(words)[words.index(word)] == role
