"""A controlled vocabulary (MeSH or any list of terms with synonyms and trees)."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from carrel.libraries.discovery.concepts.words import (
    FUNCTION_WORDS,
    normal_phrase,
    nouns_behind,
    short_form,
)
from carrel.libraries.discovery.records import Sphere, Term

# A MeSH tree number begins with its branch. Cells act; the rest of anatomy says where something was
# seen, and E how it was seen.
_BRANCHES = {
    "A": Sphere.ANATOMY,
    "C": Sphere.DISORDER,
    "D": Sphere.CHEMICAL,
    "E": Sphere.METHOD,
    "F": Sphere.MIND,
    "G": Sphere.PROCESS,
}
_PRECEDENCE = (
    Sphere.CHEMICAL,
    Sphere.DISORDER,
    Sphere.PROCESS,
    Sphere.MIND,
    Sphere.CELL,
    Sphere.METHOD,
    Sphere.ANATOMY,
)


def natural_order(name: str) -> str:
    """`Leukemia, Myeloid, Acute` as people say it: `Acute Myeloid Leukemia`."""
    return " ".join(reversed(name.split(", ")))


def sphere_of_trees(trees: Sequence[str]) -> Sphere:
    """The category of a term, by the branches of its tree numbers."""
    if not trees or trees[0].startswith("~"):
        # Positions in another hierarchy than that of MeSH say nothing of categories.
        return Sphere.UNKNOWN
    branches = {
        Sphere.CELL if tree.startswith("A11") else _BRANCHES.get(tree[:1], Sphere.SETTING)
        for tree in trees
    }
    return next((sphere for sphere in _PRECEDENCE if sphere in branches), Sphere.SETTING)


def _names_something(word: str) -> bool:
    return len(word) > 2 and word not in FUNCTION_WORDS


class Vocabulary:
    """Looks up names in normal form; returns the key of their concept."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._preferred: dict[str, str] = {}
        self._terms: dict[str, Term] = {}
        self._longest_after: dict[str, int] = {}
        self._by_tree: dict[str, str] = {}
        self._derived: dict[str, str | None] = {}
        self._family_trees: dict[str, list[str]] = {}
        self._short: dict[str, str] = {}
        self._people: set[str] = set()
        spelled: set[str] = set()
        kept = list(terms)
        for term in kept:
            key = normal_phrase(natural_order(term.label))
            self._terms.setdefault(key, term)
            self._preferred[key] = key
            for tree in term.trees:
                self._by_tree[tree] = key
        self._trees = sorted(self._by_tree)
        for term in kept:
            key = normal_phrase(natural_order(term.label))
            for name in (term.label, *term.synonyms):
                self._people.update(word[:-2] for word in name.split(" ") if word.endswith("'s"))
                if short := short_form(name):
                    self._short.setdefault(short, key)
                    self._preferred.setdefault(normal_phrase(name), key)
                    continue
                for form in (name, natural_order(name)):
                    spelled.add(normal := normal_phrase(form))
                    self._preferred.setdefault(normal, key)
        self._short_only = {normal_phrase(short) for short in self._short} - spelled
        self._admit_families(kept)
        self._admit_short_forms()
        for form in self._preferred:
            first, *rest = form.split(" ")
            self._longest_after[first] = max(self._longest_after.get(first, 1), 1 + len(rest))

    def _admit_families(self, terms: Iterable[Term]) -> None:
        # `Stress, Psychological` and `Stress, Physiological` say that there is something called
        # stress.
        families: dict[str, list[str]] = {}
        for term in terms:
            head, comma, _ = term.label.partition(", ")
            key = normal_phrase(head)
            if comma and " " not in key and _names_something(key) and key not in self._preferred:
                families.setdefault(key, []).append(head)
                self._family_trees.setdefault(key, []).extend(term.trees)
        for key, heads in families.items():
            if len(heads) > 1:
                self._preferred[key] = key
                self._terms[key] = Term(
                    f"family:{key}", heads[0], (), tuple(self._family_trees[key])
                )

    def _admit_short_forms(self) -> None:
        # People drop the first word of a long name, or the middle one, where what is left can mean
        # only one thing.
        short: dict[str, set[str]] = {}
        for form, key in self._preferred.items():
            words = form.split(" ")
            if len(words) == 3 and all(word.isalpha() and len(word) > 3 for word in words):
                short.setdefault(f"{words[1]} {words[2]}", set()).add(key)
                short.setdefault(f"{words[0]} {words[2]}", set()).add(key)
        for form, keys in short.items():
            if (
                len(keys) == 1
                and form not in self._preferred
                and all(_names_something(word) for word in form.split(" "))
            ):
                self._preferred[form] = next(iter(keys))

    def __len__(self) -> int:
        return len(self._terms)

    def preferred(self, key: str) -> str | None:
        """The key of the concept that a normal phrase names, or None."""
        return self._preferred.get(key)

    def short_form(self, written: str) -> str | None:
        """The key of the concept that has this short form, capitals and all."""
        return self._short.get(written)

    def is_short_form(self, key: str) -> bool:
        """Whether a key is known in capitals only (`STEM`), so that `stem` is another word."""
        return key in self._short_only

    def label(self, key: str) -> str | None:
        """A term as in running text: natural order, lower case except short forms and names."""
        term = self._terms.get(key)
        if term is None:
            return None
        words = natural_order(term.label).split(" ")
        return " ".join("-".join(map(self._in_running_text, word.split("-"))) for word in words)

    def _in_running_text(self, part: str) -> str:
        if (
            part.removesuffix("'s") in self._people
            or len(part) == 1
            or (len(part) < 5 and any(map(str.isdigit, part)))
        ):
            return part
        return part if any(letter.isupper() for letter in part[1:]) else part.lower()

    def term(self, key: str) -> Term | None:
        """The entry behind a concept's key."""
        return self._terms.get(key)

    def sphere(self, key: str) -> Sphere:
        """The category of the concept."""
        term = self._terms.get(key)
        return sphere_of_trees(term.trees) if term else Sphere.UNKNOWN

    def parents(self, key: str) -> tuple[str, ...]:
        """The concepts one step up in the trees."""
        term = self._terms.get(key)
        if term is None:
            return ()
        above = (self._by_tree.get(tree.rpartition(".")[0]) for tree in term.trees)
        return tuple(dict.fromkeys(parent for parent in above if parent and parent != key))

    def narrower(self, key: str) -> tuple[str, ...]:
        """The concepts below in the trees."""
        term = self._terms.get(key)
        if term is None or term.id.startswith("family:"):
            return ()
        below: dict[str, None] = {}
        for tree in term.trees:
            for place in range(bisect_left(self._trees, tree + "."), len(self._trees)):
                if not self._trees[place].startswith(tree + "."):
                    break
                below[self._by_tree[self._trees[place]]] = None
        return tuple(below)

    def depth(self, key: str) -> int:
        """The smallest depth of a concept in the trees, from 1; 0 when it has no place there."""
        term = self._terms.get(key)
        return min((tree.count(".") + 1 for tree in term.trees), default=0) if term else 0

    def is_kin(self, one: str, other: str) -> bool:
        """Whether one concept is an ancestor of the other in a tree, or in the same place."""
        first, second = self._terms.get(one), self._terms.get(other)
        if first is None or second is None:
            return False
        return any(
            a == b or a.startswith(b + ".") or b.startswith(a + ".")
            for a in first.trees
            for b in second.trees
        )

    def matches(self, words: Sequence[str]) -> list[tuple[int, int, str]]:
        """Terms in normal words as (start, end, key): leftmost longest, and those within them."""
        found = []
        start, end = 0, len(words)
        while start < end:
            longest = self._longest_after.get(words[start], 0)
            for length in range(min(longest, end - start), 0, -1):
                key = self._preferred.get(" ".join(words[start : start + length]))
                if key is not None and (length > 1 or self._is_spelled(words[start])):
                    found.append((start, start + length, key))
                    if length > 1:
                        found.extend(self._within(words, start, start + length, key))
                    start += length
                    break
            else:
                key = self._from_adjective(words[start])
                if key is not None:
                    found.append((start, start + 1, key))
                start += 1
        return found

    def _is_spelled(self, word: str) -> bool:
        return _names_something(word) and word not in self._short_only

    def _within(
        self, words: Sequence[str], start: int, end: int, whole: str
    ) -> Iterator[tuple[int, int, str]]:
        # `platelet aggregation` speaks of platelets; the head of a name is the same thing only if
        # trees say so (`brain hypoxia` is hypoxia, `cortical spreading depression` no depression).
        for left in range(start, end):
            for right in range(left + 1, end + 1):
                key = self._preferred.get(" ".join(words[left:right]))
                if (
                    key is None
                    or key == whole
                    or (right - left == 1 and not self._is_spelled(words[left]))
                ):
                    continue
                if right < end or self.is_kin(key, whole):
                    yield left, right, key

    def _from_adjective(self, word: str) -> str | None:
        if word not in self._derived:
            nouns = nouns_behind(word) if len(word) > 5 else ()
            self._derived[word] = next(
                (self._preferred[noun] for noun in nouns if noun in self._preferred), None
            )
        return self._derived[word]
