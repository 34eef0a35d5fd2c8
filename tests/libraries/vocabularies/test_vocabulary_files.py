"""S13: terms and synonyms of any field can be given as files, in the formats that thesauri have."""

import gzip
import lzma
from pathlib import Path

import pytest

from carrel.libraries.vocabularies import VocabularyFileError, read_vocabulary_file

MESH_XML = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "desc.dtd">
<DescriptorRecordSet><DescriptorRecord><DescriptorUI>D1</DescriptorUI>
<DescriptorName><String>Leukemia, Myeloid</String></DescriptorName>
<TreeNumberList><TreeNumber>C04.1</TreeNumber></TreeNumberList>
<PharmacologicalActionList><PharmacologicalAction><DescriptorReferredTo><DescriptorUI>D9</DescriptorUI>
<DescriptorName><String>Other</String></DescriptorName></DescriptorReferredTo>
</PharmacologicalAction></PharmacologicalActionList>
<ConceptList><Concept><ConceptName><String>Leukemia, Myeloid</String></ConceptName><TermList>
<Term><String>Leukemia, Myeloid</String></Term><Term><String>Myeloid Leukemia</String></Term>
</TermList></Concept></ConceptList></DescriptorRecord></DescriptorRecordSet>"""
MESH_ASCII = """*NEWRECORD
RECTYPE = D
MH = Leukemia, Myeloid
ENTRY = Myeloid Leukemia|T047|NON|EQV
MN = C04.1
UI = D1
"""
SKOS_XML = """<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://x/1"><skos:prefLabel xml:lang="de">Geldpolitik</skos:prefLabel>
<skos:prefLabel xml:lang="en">Monetary policy</skos:prefLabel>
<skos:altLabel xml:lang="en">Central bank policy</skos:altLabel></skos:Concept>
<rdf:Description rdf:about="http://x/2">
<skos:prefLabel xml:lang="en">Inflation targeting</skos:prefLabel>
<skos:broader rdf:resource="http://x/1"/></rdf:Description></rdf:RDF>"""
TURTLE = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix ex: <http://x/> .
# a comment
ex:1 a skos:Concept ; skos:prefLabel "Geldpolitik"@de, "Monetary policy"@en ;
  skos:altLabel "Central bank policy"@en ; skos:scopeNote [ skos:prefLabel "not this" ] .
<http://x/2> skos:prefLabel \"\"\"Inflation targeting\"\"\"@en ; skos:broader ex:1 .
"""
JSON_LD = """{"@graph": [
 {"@id": "http://x/1", "skos:prefLabel": [{"@value": "Geldpolitik", "@language": "de"},
  {"@value": "Monetary policy", "@language": "en"}],
  "skos:altLabel": {"en": ["Central bank policy"]}},
 {"@id": "http://x/2", "http://www.w3.org/2004/02/skos/core#prefLabel": "Inflation targeting",
  "skos:broader": {"@id": "http://x/1"}}]}"""
OBO = """format-version: 1.2

[Term]
id: X:1
name: monetary policy
synonym: "central bank policy" EXACT []
synonym: "economics" BROAD []

[Term]
id: X:2
name: inflation targeting
is_a: X:1 ! monetary policy

[Term]
id: X:3
name: gone
is_obsolete: true

[Typedef]
id: part_of
name: part of
"""


def kept(tmp_path: Path, text: str, name: str = "file") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("text", [MESH_XML, MESH_ASCII], ids=["xml", "ascii"])
def test_mesh_is_read_with_its_trees_s13(tmp_path: Path, text: str) -> None:
    (entry,) = read_vocabulary_file(kept(tmp_path, text))
    assert (entry.id, entry.label, entry.trees) == ("D1", "Leukemia, Myeloid", ("C04.1",))
    assert entry.synonyms == ("Myeloid Leukemia",)


@pytest.mark.parametrize(
    "text", [SKOS_XML, TURTLE, JSON_LD, OBO], ids=["rdf-xml", "turtle", "json-ld", "obo"]
)
def test_thesauri_are_read_in_english_with_what_is_broader_s13(tmp_path: Path, text: str) -> None:
    above, below = read_vocabulary_file(kept(tmp_path, text))
    assert above.label.lower() == "monetary policy"
    assert [name.lower() for name in above.synonyms] == ["central bank policy"]
    assert below.label.lower() == "inflation targeting"
    assert below.trees[0].startswith(f"{above.trees[0]}.")


@pytest.mark.parametrize(
    ("text", "synonyms"),
    [
        ("grain boundary\tGB|boundaries of grains\n", ("GB", "boundaries of grains")),
        ("term,synonyms\ngrain boundary,GB|boundaries of grains\n", ("GB", "boundaries of grains")),
        ('term;synonyms\n"grain boundary";"GB"\n', ("GB",)),
        ("M1\tgrain boundary\tGB\tD01\textra\n", ("GB",)),
        ("grain boundary\ncreep\n", ()),
    ],
)
def test_tables_of_terms_and_synonyms_are_read_s13(
    tmp_path: Path, text: str, synonyms: tuple[str, ...]
) -> None:
    first = read_vocabulary_file(kept(tmp_path, text))[0]
    assert (first.label, first.synonyms) == ("grain boundary", synonyms)


def test_packed_files_are_unpacked(tmp_path: Path) -> None:
    for pack in (gzip.compress, lzma.compress):
        path = tmp_path / "packed"
        path.write_bytes(pack(OBO.encode()))
        assert len(read_vocabulary_file(path)) == 2


def test_a_thesaurus_whose_terms_go_round_in_a_circle_still_has_places(tmp_path: Path) -> None:
    text = "id,label,broader\na,one thing,b\nb,another thing,a\n"
    assert all(entry.trees for entry in read_vocabulary_file(kept(tmp_path, text)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no terms"),
        ("\0\1\2", "no text"),
        ("{]", "JSON"),
        ("<?xml version='1.0'?><a><b></a>", "well-formed"),
        ('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "entity"),
        ('@prefix a: <b> .\na:c "unfinished', "Turtle"),
    ],
)
def test_what_is_no_vocabulary_is_refused_in_plain_words(
    tmp_path: Path, text: str, said: str
) -> None:
    with pytest.raises(VocabularyFileError, match=said):
        read_vocabulary_file(kept(tmp_path, text))
