"""Association weights from document counts, and concepts too similar to be told apart."""

from math import log, sqrt

from carrel.libraries.discovery.records import Concepts
from carrel.libraries.discovery.tuned import LITERATURES


def _n_log_n(n: int) -> float:
    return n * log(n) if n > 0 else 0.0


class Counted:
    """Log-likelihood weights over `documents` documents; n·log n is precomputed in a table."""

    def __init__(self, documents: int) -> None:
        self.documents = documents
        self.n_log_n = [_n_log_n(n) for n in range(documents + 1)]

    @staticmethod
    def signed(inside: int, inside_size: int, outside: int, outside_size: int) -> float:
        """Signed log-likelihood ratio (G²): positive where the word is over-represented inside."""
        total, word = inside_size + outside_size, inside + outside
        cells = (inside, inside_size - inside, outside, outside_size - outside)
        margins = (inside_size, outside_size, word, total - word)
        ratio = 2 * (sum(map(_n_log_n, cells)) - sum(map(_n_log_n, margins)) + _n_log_n(total))
        return ratio if inside * outside_size > outside * inside_size else -ratio

    def expected(self, one: int, other: int) -> float:
        """In how many documents two things would meet by chance."""
        return one * other / self.documents if self.documents else 0.0


def cosine(both: int, one: int, other: int) -> float:
    """Documents with both, over the geometric mean of the documents with each."""
    return both / sqrt(one * other) if one and other else 0.0


def jaccard(both: int, one: int, other: int) -> float:
    """Documents with both, over the documents with either."""
    either = one + other - both
    return both / either if either else 0.0


def are_alike(index: Concepts, one: int, other: int) -> bool:
    """Whether two concepts are equal, related in the vocabulary's trees, nested or co-extensive."""
    if one == other:
        return True
    if index.vocabulary and index.vocabulary.is_kin(index.key(one), index.key(other)):
        return True
    for first in index.wordings(one):
        for second in index.wordings(other):
            if first <= second or second <= first:
                return True
    return _have_the_same_documents(index, one, other)


def _have_the_same_documents(index: Concepts, one: int, other: int) -> bool:
    fewer, more = sorted((index.frequency(one), index.frequency(other)))
    if fewer < LITERATURES.least_same_documents or fewer < LITERATURES.same_documents**2 * more:
        return False
    both = len(set(index.documents(one)).intersection(index.documents(other)))
    return cosine(both, fewer, more) >= LITERATURES.same_documents
