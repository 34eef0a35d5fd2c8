"""Why a bibliography could not be read or written at all."""


class BibliographyError(Exception):
    """Anything wrong with a whole input or output; what is wrong with one entry is an ImportFailure
    instead.
    """


class UnknownFormatError(BibliographyError):
    """The text has the shape of no format that is read here."""

    def __init__(self, beginning: str) -> None:
        super().__init__(f"Not a bibliography format or identifier that is known: {beginning!r}")
        self.beginning = beginning


class UnsafeXmlError(BibliographyError):
    """The XML declares entities, which are refused: their expansion can fill the memory or read
    other files.
    """

    def __init__(self, line: int) -> None:
        super().__init__(f"The XML declares entities (line {line}); they are not expanded here")
        self.line = line


class UnreadableXmlError(BibliographyError):
    """The XML is not well formed."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"The XML is not well formed (line {line}): {reason}")
        self.line = line
        self.reason = reason
