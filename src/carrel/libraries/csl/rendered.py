"""A rendered citation or entry, which can be written in every format."""

from .formats import OutputName, TextRun, output_format, to_runs, write_tokens
from .tokens import Tokens

Quotes = tuple[str, str, str, str]


class RenderedText:
    """A citation or an entry: `text`, `html`, `markdown`, or `runs` with their formatting."""

    __slots__ = ("_quotes", "_tokens")

    def __init__(self, tokens: Tokens, quotes: Quotes) -> None:
        self._tokens = tuple(tokens)
        self._quotes = quotes

    @property
    def text(self) -> str:
        """Plain text, without formatting."""
        return self.write("text")

    @property
    def html(self) -> str:
        """HTML of one element's content; what items and cites say is escaped."""
        return self.write("html")

    @property
    def markdown(self) -> str:
        """Markdown in which nothing that items say has a meaning of its own."""
        return self.write("markdown")

    @property
    def runs(self) -> list[TextRun]:
        """Stretches of text with their formatting, for any other format."""
        return to_runs(list(self._tokens), self._quotes)

    def write(self, output: OutputName) -> str:
        """The text in the format of this name."""
        return write_tokens(list(self._tokens), output_format(output), self._quotes)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"RenderedText({self.text!r})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RenderedText):
            return NotImplemented
        return self._tokens == other._tokens and self._quotes == other._quotes

    def __hash__(self) -> int:
        return hash((self._tokens, self._quotes))
