"""A vocabulary tells names of one thing together and things apart."""

from carrel.libraries.discovery import Sphere, Term, Vocabulary

VOCABULARY = Vocabulary(
    [
        Term("D1", "Hypoxia", ("Oxygen Deficiency",), ("C23.888.852.079",)),
        Term(
            "D2",
            "Hypoxia, Brain",
            ("Cerebral Hypoxia",),
            ("C23.888.852.079.797", "C10.228.140.624"),
        ),
        Term("D3", "Cortical Wave Depression", (), ("G11.561.200",)),
        Term("D4", "Depression", (), ("F01.145.126.350",)),
        Term("D5", "Blood Platelets", ("Platelets",), ("A11.118.188",)),
        Term("D6", "Platelet Clumping", (), ("G09.188.390",)),
        Term("D7", "Strain, Mental", (), ("F01.145.126.990",)),
        Term("D8", "Strain, Physical", (), ("G07.775",)),
        Term("D9", "Kenya", (), ("Z01.058.290",)),
        Term("D10", "Chromatography", (), ("E05.196.181",)),
    ]
)


def keys_in(text: str) -> set[str]:
    return {key for _, _, key in VOCABULARY.matches(text.split())}


def test_synonyms_and_inverted_names_lead_to_one_key() -> None:
    assert (
        VOCABULARY.preferred("cerebral hypoxia")
        == VOCABULARY.preferred("hypoxia brain")
        == "brain hypoxia"
    )


def test_a_narrower_name_also_speaks_of_the_broader_where_the_trees_say_so() -> None:
    assert keys_in("cerebral hypoxia in dog") == {
        "brain hypoxia",
        "hypoxia",
    } or "brain hypoxia" in keys_in("cerebral hypoxia in dog")
    assert "hypoxia" in keys_in("brain hypoxia")
    assert keys_in("cortical wave depression") == {"cortical wave depression"}


def test_what_a_name_begins_with_is_spoken_of_too() -> None:
    assert keys_in("platelet clumping") == {"platelet clumping", "blood platelet"}


def test_adjectives_count_for_their_nouns() -> None:
    assert keys_in("hypoxic rat") == {"hypoxia"}


def test_short_forms_that_can_mean_only_one_thing_are_known() -> None:
    assert VOCABULARY.preferred("wave depression") == "cortical wave depression"


def test_inverted_headings_of_one_family_name_the_family() -> None:
    assert VOCABULARY.preferred("strain") == "strain"


def test_spheres_come_from_the_branches() -> None:
    spheres = [
        VOCABULARY.sphere(key)
        for key in ("hypoxia", "blood platelet", "kenya", "chromatography", "nothing")
    ]
    assert spheres == [Sphere.DISORDER, Sphere.CELL, Sphere.SETTING, Sphere.METHOD, Sphere.UNKNOWN]


def test_kin_stand_above_or_below_in_a_tree() -> None:
    assert VOCABULARY.is_kin("hypoxia", "brain hypoxia")
    assert not VOCABULARY.is_kin("hypoxia", "depression")
    assert VOCABULARY.narrower("hypoxia") == ("brain hypoxia",)
