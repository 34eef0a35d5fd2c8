"""Splits BibTeX and BibLaTeX files into entries, repairs broken syntax and fills in @string."""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from carrel.libraries.bibliography.bibtex.groups import read_group_tree
from carrel.libraries.bibliography.imports import ImportResult
from carrel.libraries.text.budget import current_budget

_BRACE = re.compile(r"[{}]")


class BracePairs:
    """The closing brace of every opening one, found in one pass."""

    def __init__(self, text: str) -> None:
        self._openings = array("q")
        self._closings = array("q")
        budget = current_budget()
        waiting: list[int] = []
        for found in _BRACE.finditer(text):
            budget.step()
            if found.group() == "{":
                waiting.append(len(self._openings))
                self._openings.append(found.start())
                self._closings.append(-1)
            elif waiting:
                self._closings[waiting.pop()] = found.start()

    def closing(self, opening: int) -> int:
        """Where the group that opens here closes; -1 when it never does."""
        place = bisect_left(self._openings, opening)
        if place < len(self._openings) and self._openings[place] == opening:
            return self._closings[place]
        return -1


_NAME = r"(?:[A-Za-z]|__[A-Za-z])[\w:.+/-]*"
_START = re.compile(
    rf"(?<![\w.\\])@[ \t]*(?:({_NAME})\s*([{{(])|({_NAME})[ \t]*+,?[ "
    rf"\t]*+\r?\n(?=\s*{_NAME}\s*=\s*[{{\"]))",
    re.ASCII,
)
_AT_NEXT_ENTRY = re.compile(rf"[\s,]*@[ \t]*{_NAME}[ \t]*[{{(]|[\s,]*\Z", re.ASCII)
# A key that a blank alone parts from the first field.
_KEY_BEFORE_FIELD = re.compile(
    rf"\s*+([^\s,={{}}\"]{{1,400}}+)[ \t]{{1,100}}+(?=(?>{_NAME})\s{{0,100}}+=)"
)
_KEY = re.compile(r"\s*+([^,={}\n]{0,400}?)[ \t]{0,100}(?:(,)|(\n)|(?=[})])|\Z)")
# The usual field, up to two levels of braces deep, in one step. Possessive, so that what does not
# match fails at once.
_FIELD_AT_ONCE = re.compile(
    rf"[\s,]*({_NAME})\s*=\s*(?:"
    r"\{((?:[^{}@]++|\{(?:[^{}@]++|\{[^{}@]*+\})*+\})*+)\}"
    r'|"((?:[^{}@"]++|\{(?:[^{}@]++|\{[^{}@]*+\})*+\})*+)"'
    r'|([^\s,}#"{()=@]++)'
    r")\s*(?:,|(?=[})]))"
)
_FIELD_NAME = re.compile(rf"[\s,]*({_NAME})\s*=\s*")
_FIELD_WITHOUT_EQUALS = re.compile(rf"[\s,]*({_NAME})[^\w{{}}\",=@]{{1,8}}(?=[{{\"])")
_END = re.compile(r"[\s,]*([})])")
_BARE = re.compile(r'[^\s,}#"{()=]+')
_NEXT_ENTRY = rf"\n[ \t]*@[ \t]*{_NAME}[ \t]*[{{(]\s*(?:[^\s,{{}}()=\"]*\s*,|{_NAME}\s*=)"
_NEXT_ENTRY_START = re.compile(_NEXT_ENTRY, re.ASCII)
_BRACES_ONLY = re.compile(r"[{}]")
_BRACES = re.compile(rf"[{{}}]|{_NEXT_ENTRY}", re.ASCII)
_BRACES_AND_QUOTES = re.compile(rf"[{{}}\"]|{_NEXT_ENTRY}", re.ASCII)
_AFTER_QUOTE = re.compile(rf"\s*(?:,\s*(?:{_NAME}\s*=|[}})%@]|\Z)|[}})#]|{_NAME}\s*=|\Z)")
# Where a field begins within a value that was not closed: on a line of its own or, with less trust
# in numbers ("p = 0.05" in an abstract is no field), behind a comma.
_SWALLOWED = re.compile(
    rf"[ \t]{{0,20}},?[ \t]{{0,20}}\n\s{{0,200}}(?={_NAME}\s*=\s*[{{\"\d])"
    rf"|,[ \t]{{0,20}}(?={_NAME}\s*=\s*[{{\"])"
    r"|,[ \t]{0,20}(?=(?i:year|volume|number|pages|month|issue)\s*=\s*\d)"
)
_RESUME = re.compile(
    rf"[,\n][\s,]{{0,200}}(?={_NAME}\s*=\s*[{{\"\w])"
    rf"|(?=[}})]\s{{0,200}}(?:\n\s{{0,200}}@|\Z))|\n(?=[ \t]*@[ \t]*{_NAME}[ \t]*[{{(])"
)
_GOES_ON = re.compile(rf"\s*,?\s*(?={_NAME}\s*=\s*[{{\"\d])")
_HASH = re.compile(r"\s*#\s*")
_SEPARATOR = re.compile(r"\s*([,})]|\Z)")
_COMMENT_LINE = re.compile(r"[ \t]*+%")
# A group that holds more braces than this is looked up among all the pairs of the text instead of
# walked through.
_BRACES_WALKED = 200

MONTHS = {
    name: name
    for name in ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
}


@dataclass(slots=True)
class RawEntry:
    """An entry with its fields uninterpreted: names in lower case, values still in TeX."""

    type: str
    key: str
    line: int
    fields: dict[str, str] = field(default_factory=dict)


class Scanner:
    """Walks once through a text; remembers the strings it has met and where it is."""

    def __init__(self, text: str, report: ImportResult) -> None:
        self._text = text
        self._report = report
        self._strings = dict(MONTHS)
        self._counted = 0
        self._line = 1
        self._unresolved: set[str] = set()
        self._budget = current_budget()
        self._known_pairs: BracePairs | None = None
        self._line_start = 0
        self._line_looked_to = 0
        self._is_comment_line = bool(_COMMENT_LINE.match(text))
        self._repeated: dict[str, list[str]] = {}
        self._entry_ahead = (0, -1)
        # Of each key in lower case, what the file's comments say.
        self.groups: dict[str, list[str]] = {}

    @property
    def line(self) -> int:
        """The line that has been reached."""
        return self._line

    def entries(self) -> Iterator[RawEntry]:
        text, position = self._text, 0
        while found := _START.search(text, position):
            if found.group(3):
                entry = RawEntry(found.group(3).lower(), "", self._line_at(found.start(3)))
                self._warn(found.start(3), f"@{entry.type} has neither an opening brace nor a key")
                position = self._fields(entry, found.end(), "}")
                self._join_repeated(entry)
                yield entry
                continue
            self._budget.check_time()
            kind = found.group(1).lower()
            if self._is_commented_out(found.start()):
                self._warn(found.start(), f"@{kind} is commented out with %; it was left out")
                position = self._after_comment(found.end() - 1)
            elif kind == "comment":
                position = self._after_comment(found.end() - 1)
                self.groups |= read_group_tree(self._text[found.end() : position - 1])
            elif kind == "preamble":
                position = self._value(found.end(), "@preamble")[1]
            elif kind == "string":
                position = self._string(found.end())
            else:
                entry = RawEntry(kind, "", self._line_at(found.start()))
                position = self._fields(
                    entry, self._key(entry, found.end()), "}" if found.group(2) == "{" else ")"
                )
                self._join_repeated(entry)
                yield entry

    def _line_at(self, position: int) -> int:
        self._line += self._text.count("\n", self._counted, position)
        self._counted = position
        return self._line

    def _warn(self, position: int, message: str) -> None:
        if position < self._counted:
            line = self._line - self._text.count("\n", position, self._counted)
        else:
            line = self._line_at(position)
        self._report.warn(line, message)

    def _is_commented_out(self, position: int) -> bool:
        """Whether the line of this place begins with %. Asked for places in rising order."""
        line_end = self._text.rfind("\n", self._line_looked_to, position)
        self._line_looked_to = max(self._line_looked_to, position)
        if line_end >= 0:
            self._line_start = line_end + 1
            self._is_comment_line = bool(_COMMENT_LINE.match(self._text, self._line_start))
        return self._is_comment_line

    @property
    def _pairs(self) -> BracePairs:
        if self._known_pairs is None:
            self._known_pairs = BracePairs(self._text)
        return self._known_pairs

    def _after_comment(self, opening: int) -> int:
        """Behind a balanced comment; where it never closes, behind its line."""
        if self._text[opening] == "{":
            closing = self._closing(opening)
            if closing >= 0:
                return closing + 1
        end_of_line = self._text.find("\n", opening)
        return len(self._text) if end_of_line < 0 else end_of_line

    def _closing(self, opening: int) -> int:
        """The brace that closes this one; -1 when none does."""
        depth = 0
        for walked, brace in enumerate(_BRACES_ONLY.finditer(self._text, opening)):
            depth += 1 if brace.group() == "{" else -1
            if depth == 0:
                return brace.start()
            if walked >= _BRACES_WALKED:
                break
        else:
            return -1
        return self._pairs.closing(opening)

    def _string(self, position: int) -> int:
        found = _FIELD_NAME.match(self._text, position)
        if not found:
            self._warn(position, "An @string without a name was left out")
            return position
        value, position = self._value(found.end(), found.group(1))
        self._strings[found.group(1).lower()] = value
        return position

    def _fields(self, entry: RawEntry, position: int, closer: str) -> int:
        text, fields = self._text, entry.fields
        last_name, last_value_at = "", position
        while True:
            found = _FIELD_AT_ONCE.match(text, position)
            if found:
                name, which = found.group(1).lower(), found.lastindex or 0
                value = found.group(which)
                if which == 4 and not value.isdigit():
                    value = self._string_value(value, found.start(4))
                if name in fields:
                    self._repeat_field(entry, name, value, found.start(1))
                else:
                    fields[name] = value
                last_name, last_value_at = name, found.start(which)
                position = found.end()
                continue
            end = _END.match(text, position)
            if end and end.group(1) == closer:
                goes_on = _GOES_ON.match(text, end.end()) if closer == "}" else None
                if goes_on is None:
                    return end.end()
                message = (
                    f"Entry {entry.key!r} is closed too early; the fields after it were taken in"
                )
                self._warn(end.start(1), message)
                position = goes_on.end()
                continue
            named = self._field_name(position)
            if named:
                last_name, last_value_at = named.group(1).lower(), named.end()
                position = self._field(entry, named)
                continue
            position, is_over = self._recover(entry, position, last_name, last_value_at)
            if is_over:
                return position

    def _string_value(self, name: str, position: int) -> str:
        """What an @string stands for."""
        known = self._strings.get(name.lower())
        if known is None:
            return self._unknown_string(name, position)
        self._budget.spend_output(len(known))
        return known

    def _field_name(self, position: int) -> re.Match[str] | None:
        """The name of a field here, with the equals sign behind it or without."""
        found = _FIELD_NAME.match(self._text, position)
        if found is None:
            found = _FIELD_WITHOUT_EQUALS.match(self._text, position)
            if found:
                message = f"No = after {found.group(1)!r}; read as if there were one"
                self._warn(found.start(1), message)
        return found

    def _field(self, entry: RawEntry, named: re.Match[str]) -> int:
        """Read a field whose name has been found; returns where its value ends."""
        name = named.group(1).lower()
        value, after = self._value(named.end(), name)
        if name in entry.fields:
            self._repeat_field(entry, name, value, named.start(1))
        else:
            entry.fields[name] = value
        if not _SEPARATOR.match(self._text, after):
            self._warn(after, f"No comma after the field {name!r} of {entry.key!r}")
        return after

    def _key(self, entry: RawEntry, position: int) -> int:
        text = self._text
        if _FIELD_NAME.match(text, position):
            self._warn(position, f"@{entry.type} has no key")
            return position
        found = _KEY_BEFORE_FIELD.match(text, position)
        if found:
            entry.key = found.group(1)
            self._warn(found.start(1), f"No comma after the key {entry.key!r}")
            return found.end()
        found = _KEY.match(text, position)
        if not found:
            self._warn(position, f"@{entry.type} has no key that can be read")
            return position
        entry.key = found.group(1).strip()
        if not entry.key:
            self._warn(position, f"@{entry.type} has no key")
        elif not found.group(2) and found.group(3):
            self._warn(found.start(1), f"No comma after the key {entry.key!r}")
        return found.end()

    def _recover(
        self, entry: RawEntry, position: int, last_name: str, last_value_at: int
    ) -> tuple[int, bool]:
        """Where to go on when neither a field nor the end of the entry stands here."""
        text = self._text
        if _AT_NEXT_ENTRY.match(text, position):
            value = self._repeated.get(last_name, [entry.fields.get(last_name, "")])[-1]
            swallowed = _SWALLOWED.search(text, last_value_at, position) if "=" in value else None
            if swallowed:
                start = last_value_at + (1 if text[last_value_at] in '{"' else 0)
                kept = text[start : swallowed.start()].strip()
                if last_name in self._repeated:
                    self._repeated[last_name][-1] = kept
                else:
                    entry.fields[last_name] = kept
                self._warn(
                    last_value_at,
                    f"The field {last_name!r} of {entry.key!r} is not closed; it was ended before "
                    f"the next field",
                )
                return swallowed.end(), False
            self._warn(position, f"Entry {entry.key!r} is not closed")
            return position, True
        resume = _RESUME.search(text, position + 1)
        skipped = " ".join(text[position : resume.start() if resume else position + 60].split())[
            :60
        ]
        if skipped.strip(",}) "):
            self._warn(position, f"Could not read {skipped!r} in {entry.key!r}; it was left out")
        if resume is None:
            self._warn(position, f"Entry {entry.key!r} is not closed")
            return len(text), True
        return resume.end(), bool(_START.match(text, resume.end()))

    def _repeat_field(self, entry: RawEntry, name: str, value: str, position: int) -> None:
        first = entry.fields[name]
        if name in {"keywords", "keyword"} and value != first:
            self._repeated.setdefault(name, [first]).append(value)
        elif name in {"author", "editor"} and value != first:
            self._repeated.setdefault(name, [first]).append(value)
            self._warn(position, f"{entry.key!r} has {name!r} twice; both were taken")
        elif not first.strip():
            entry.fields[name] = value
        elif value.strip() and value != first:
            self._warn(position, f"{entry.key!r} has {name!r} twice; the first was kept")

    def _join_repeated(self, entry: RawEntry) -> None:
        for name, values in self._repeated.items():
            entry.fields[name] = (", " if name in {"keywords", "keyword"} else " and ").join(values)
        self._repeated.clear()

    def _unknown_string(self, name: str, position: int) -> str:
        if name.lower() not in self._unresolved and not name.replace("-", "").isdigit():
            self._unresolved.add(name.lower())
            self._warn(position, f"No @string is called {name!r}; the name itself was kept")
        return name

    def _value(self, position: int, owner: str) -> tuple[str, int]:
        """A value with its parts joined, and the position behind it."""
        text = self._text
        parts: list[str] = []
        while True:
            opening = text[position : position + 1]
            if opening == "{":
                part, position = self._braced(position, owner)
            elif opening == '"':
                part, position = self._quoted(position, owner)
            else:
                bare = _BARE.match(text, position)
                if not bare:
                    return "".join(parts), position
                part, position = bare.group(), bare.end()
                if not part.isdigit():
                    known = self._strings.get(part.lower())
                    if known is not None:
                        self._budget.spend_output(len(known))
                    part = known if known is not None else self._unknown_string(part, bare.start())
            self._budget.step()
            parts.append(part)
            joined = _HASH.match(text, position)
            if not joined:
                return "".join(parts), position
            position = joined.end()

    def _braced(self, opening: int, owner: str) -> tuple[str, int]:
        text, depth = self._text, 0
        for walked, found in enumerate(_BRACES.finditer(text, opening)):
            if walked >= _BRACES_WALKED:
                return self._long_group(opening, owner)
            sign = found.group()
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if depth == 0:
                    return text[opening + 1 : found.start()], found.end()
            else:
                return self._unclosed(opening, found.start(), owner)
        return self._unclosed(opening, len(text), owner)

    def _long_group(self, opening: int, owner: str) -> tuple[str, int]:
        closing = self._pairs.closing(opening)
        next_entry = self._next_entry(opening)
        if 0 <= closing < next_entry:
            return self._text[opening + 1 : closing], closing + 1
        return self._unclosed(opening, next_entry, owner)

    def _next_entry(self, position: int) -> int:
        """Where the next entry begins, or the text ends."""
        looked_from, found_at = self._entry_ahead
        if not looked_from <= position <= found_at:
            found = _NEXT_ENTRY_START.search(self._text, position)
            found_at = found.start() if found else len(self._text)
            self._entry_ahead = (position, found_at)
        return found_at

    def _quoted(self, opening: int, owner: str) -> tuple[str, int]:
        text, depth, is_warned = self._text, 0, False
        for found in _BRACES_AND_QUOTES.finditer(text, opening + 1):
            sign = found.group()
            if sign == "{":
                depth += 1
            elif sign == "}":
                depth -= 1
                if depth < 0:
                    return self._unclosed(opening, found.start(), owner)
            elif sign == '"':
                if depth == 0:
                    if _AFTER_QUOTE.match(text, found.end()):
                        return text[opening + 1 : found.start()], found.end()
                    if not is_warned:
                        self._warn(
                            found.start(), f"A quotation mark within {owner!r} does not end it"
                        )
                        is_warned = True
            else:
                return self._unclosed(opening, found.start(), owner)
        return self._unclosed(opening, len(text), owner)

    def _unclosed(self, opening: int, limit: int, owner: str) -> tuple[str, int]:
        """End an unclosed value before the next field or the last line with only a brace."""
        text = self._text
        next_field = _SWALLOWED.search(text, opening, limit)
        end = "where the next begins" if next_field else "with its entry"
        self._warn(opening, f"The field {owner!r} is not closed; it was ended {end}")
        if next_field:
            return text[opening + 1 : next_field.start()].rstrip(' ,"'), next_field.start()
        rest = text[opening + 1 : limit].rstrip()
        stripped = rest.rstrip("}) \t\r\n,")
        return stripped.rstrip('"'), opening + 1 + len(stripped)
