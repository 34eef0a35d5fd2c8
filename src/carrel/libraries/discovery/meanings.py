"""What the keys of texts mean, judged from all of them: short forms, spellings with and without a
gap, and one key for each thing.
"""

from carrel.libraries.discovery.function_words import FUNCTION_WORDS, NEEDS_COMPANY
from carrel.libraries.discovery.ledger import Ledger
from carrel.libraries.discovery.short_forms import ONE_MEANING_SHARE
from carrel.libraries.discovery.words import has_capitals, normal_word

SHORT_FORM_PREFERRED = 8
"""Where so many times more papers write the short form (`DNA`), the short one is the name."""

MOST_OF_ONE_WORD = 10
"""A gene called FRQ after `frequency` is not what all papers that speak of a frequency mean."""

SLOPPY_SHARE = 0.2
"""A short form's keyword in small letters is the same thing where texts hardly ever write it so."""

_LEAST_LETTERS = 6
_SHORTEST_GENUS = 3
_STEPS = 5


class Meanings:
    """Which concept each key stands for. A function of the ledger alone, so that the way it came to
    be does not matter.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turned: dict[str, str] = {}
        self._short: dict[str, str] = {}
        for short, long, wordings in ledger.short_forms.meanings():
            for other in wordings:
                if not ledger.is_term(other):
                    self._turned[other] = long
            self._admit(short, long)
        self._admit_keywords_in_small_letters()
        self._admit_gaps()
        self._admit_species()

    def of(self, key: str) -> str:
        """The key of the concept that a key of a text stands for."""
        for _ in range(_STEPS):
            further = self._turned.get(key)
            if further is None:
                further = self._of_short_form(key) if has_capitals(key) else key
            if further == key:
                return key
            key = further
        return key

    def of_short_form(self, plain: str) -> str | None:
        """The concept of a short form told in small letters, where it is one."""
        short = self._short.get(plain)
        return None if short is None else self.of(short)

    def _admit(self, short: str, long: str) -> None:
        ledger = self._ledger
        if " " not in short and self._is_ordinary(short):
            return
        written, spelled = ledger.frequency(short), ledger.frequency(long)
        if not written or not spelled or short == long:
            return
        if " " not in long and spelled > MOST_OF_ONE_WORD * written:
            return
        plain = short if " " in short else normal_word(short)
        if written > SHORT_FORM_PREFERRED * spelled and not ledger.is_term(long):
            self._turned[long] = plain
        else:
            self._turned[short] = long
        if plain != short:
            self._short[plain] = short

    def _of_short_form(self, key: str) -> str:
        """A key with capitals that no paper explains: the vocabulary's, or the same word in small
        letters, or its own.
        """
        plain = normal_word(key)
        if self._is_ordinary(key):
            return key
        meant = self._ledger.vocabulary.short_form(key) if self._ledger.vocabulary else None
        return meant or plain

    def _is_ordinary(self, key: str) -> bool:
        # What texts write oftener in small letters than in capitals is a word of theirs, and its
        # capitals are something else.
        plain = normal_word(key)
        if plain in FUNCTION_WORDS or plain in NEEDS_COMPANY:
            return True
        return self._ledger.frequency(plain) > self._ledger.frequency(key)

    def _admit_keywords_in_small_letters(self) -> None:
        ledger = self._ledger
        for plain, short in self._short.items():
            number = ledger.numbers.get(plain)
            if (
                number is not None
                and ledger.named_in[number]
                and ledger.counts[number] <= SLOPPY_SHARE * ledger.frequency(short)
                and short in self._turned
            ):
                self._turned[plain] = short

    def _admit_gaps(self) -> None:
        """`life span` and `lifespan`, `sars cov2` and `sars cov 2`: the spelling most texts
        have.
        """
        ledger = self._ledger
        spellings: dict[str, list[int]] = {}
        for number, key in enumerate(ledger.keys):
            if " " in key and ledger.is_live(number):
                spellings.setdefault(key.replace(" ", ""), []).append(number)
        for closed, numbers in spellings.items():
            whole = ledger.numbers.get(closed)
            if whole is not None and ledger.is_live(whole):
                numbers.append(whole)
            if len(numbers) > 1 and (
                len(closed) >= _LEAST_LETTERS or any(letter.isdigit() for letter in closed)
            ):
                best = max(
                    numbers,
                    key=lambda number: (
                        ledger.is_term(ledger.keys[number]),
                        ledger.counts[number],
                        ledger.keys[number],
                    ),
                )
                for number in numbers:
                    if number != best and not ledger.is_term(ledger.keys[number]):
                        self._turned.setdefault(ledger.keys[number], ledger.keys[best])

    def _admit_species(self) -> None:
        """`e. coli` is the one thing called `e... coli` in full, or at least what nearly all papers
        that name one mean.
        """
        ledger = self._ledger
        shortened = [
            key
            for number, key in enumerate(ledger.keys)
            if key[1:3] == ". " and ledger.is_live(number)
        ]
        wanted = {(key[0], key[3:]): key for key in shortened}
        called: dict[str, dict[str, int]] = {key: {} for key in shortened}
        for number, key in enumerate(ledger.keys):
            genus, _, species = key.partition(" ")
            short = wanted.get((genus[:1], species)) if len(genus) > _SHORTEST_GENUS else None
            if short is not None and ledger.is_live(number):
                called[short][key] = ledger.counts[number]
        for short, full in called.items():
            best = max(full, key=lambda key: (full[key], key), default=None)
            without_stop = f"{short[0]} {short[3:]}"
            self._turned[short] = without_stop
            if best is not None and full[best] >= ONE_MEANING_SHARE * sum(full.values()):
                self._turned[without_stop] = best
