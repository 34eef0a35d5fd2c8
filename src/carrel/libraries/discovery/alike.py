"""Concepts too close to be told apart: joining them, or bridging by one to the other, would say
nothing.
"""

from carrel.libraries.discovery.index import ConceptIndex
from carrel.libraries.discovery.weights import cosine

SAME_DOCUMENTS = 0.75
"""Cosine of the documents of two names from which on they are names of one story (`CRISPR` and
`Cas9` 0.74, `orexin` and `hypocretin` 0.82).
"""

LEAST_DOCUMENTS = 5
"""Fewer documents may be the same by chance."""


def are_alike(index: ConceptIndex, one: int, other: int) -> bool:
    """Whether two concepts are one, kin in the vocabulary's trees, one named within the other, or
    spoken of by the same papers.
    """
    if one == other:
        return True
    if index.vocabulary and index.vocabulary.is_kin(index.key(one), index.key(other)):
        return True
    for first in index.wordings(one):
        for second in index.wordings(other):
            if first <= second or second <= first:
                return True
    return _have_the_same_documents(index, one, other)


def _have_the_same_documents(index: ConceptIndex, one: int, other: int) -> bool:
    fewer, more = sorted((index.frequency(one), index.frequency(other)))
    if fewer < LEAST_DOCUMENTS or fewer < SAME_DOCUMENTS**2 * more:
        return False
    both = len(set(index.documents(one)).intersection(index.documents(other)))
    return cosine(both, fewer, more) >= SAME_DOCUMENTS
