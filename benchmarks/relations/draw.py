"""Draws the sentences to label: half of them with a relation verb, half at random."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.relations.sources import SourceSentence, elife, other_fields, scifact

SEED = 18
SHORTEST, LONGEST = 40, 400
DRAWN = ((elife, 200), (scifact, 80), (other_fields, 120))
_STEMS = """
increas enhanc promot activat stimulat elevat upregulat up-regulat potentiat facilitat induc accelerat improv rais boost strengthen
decreas reduc inhibit suppress attenuat downregulat down-regulat repress impair block abolish diminish prevent antagoni lower weaken
degrad depress ameliorat alleviat rescu revers protect mitigat treat trigger underl contribut associat correlat linked predict compos
compris contain outperform affect influenc determin depend requir regulat mediat modulat control
"""  # noqa: E501
_PHRASES = (
    r"cause[sd]?\b", r"lead(s|ing)? to", "led to", r"result(s|ed|ing)? in", r"driv(e|es|en|ing)\b",
    r"consists? of", "part of",
)  # fmt: skip
_VERB = re.compile(rf"\b({'|'.join((*_STEMS.split(), *_PHRASES))})", re.IGNORECASE)


def draw(data: Path) -> Iterator[SourceSentence]:
    """The drawn sentences, those of each source half with a relation verb and half at random."""
    for read, wanted in DRAWN:
        every = [s for s in read(data) if SHORTEST <= len(s.text) <= LONGEST]
        random = Random(SEED)
        random.shuffle(every)
        with_verb = [s for s in every if _VERB.search(s.text)][: wanted // 2]
        taken = {s.hash for s in with_verb}
        yield from with_verb
        yield from [s for s in every if s.hash not in taken][: wanted - len(with_verb)]


def main(data: Path, sentences: Path, references: Path) -> None:
    """Write the sentences for labellers, and the references that labels keep."""
    drawn = list(draw(data))
    Random(SEED).shuffle(drawn)
    with sentences.open("w") as texts, references.open("w") as places:
        for number, one in enumerate(drawn, 1):
            print(json.dumps({"id": number, "text": one.text}, ensure_ascii=False), file=texts)
            place = {"id": number, "source": one.source, "record": one.record, "field": one.field}
            print(json.dumps({**place, "hash": one.hash}, ensure_ascii=False), file=places)


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
