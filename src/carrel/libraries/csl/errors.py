"""Errors of citation rendering, each with a code that never changes and a next step."""

from collections.abc import Sequence


class CitationStyleError(Exception):
    """Something in a style, a locale or an item stops the work; `code` never changes."""

    code = "citation_style_failed"

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(f"{message} {next_step}".strip())
        self.message = message
        self.next_step = next_step


class StyleNotFoundError(CitationStyleError):
    code = "style_not_found"

    def __init__(self, style: str, alike: Sequence[str] = ()) -> None:
        hint = f"Perhaps {' or '.join(alike)}? " if alike else ""
        super().__init__(
            f"There is no citation style {style!r}.",
            next_step=f"{hint}Search the list of styles for its id.",
        )
        self.style = style
        self.alike = tuple(alike)


class StyleBrokenError(CitationStyleError):
    code = "style_broken"

    def __init__(self, style: str, reason: str) -> None:
        super().__init__(
            f"The citation style {style!r} cannot be used: {reason}",
            next_step="Choose another style or repair its XML.",
        )
        self.style = style
        self.reason = reason


class OutputUnknownError(CitationStyleError):
    """There is no output format of that name."""

    code = "output_unknown"

    def __init__(self, output: object, known: Sequence[str]) -> None:
        super().__init__(
            f"There is no output format {str(output)[:50]!r}.",
            next_step=f"Use {', '.join(known[:-1])} or {known[-1]}.",
        )
        self.output = output
        self.known = tuple(known)


class LocaleBrokenError(CitationStyleError):
    code = "locale_broken"

    def __init__(self, locale: str, reason: str) -> None:
        super().__init__(
            f"The locale {locale!r} cannot be used: {reason}", next_step="Use another locale."
        )
        self.locale = locale
        self.reason = reason


class LocaleNotFoundError(CitationStyleError):
    """No locale has the language that was asked for."""

    code = "locale_not_found"

    def __init__(self, locale: str) -> None:
        super().__init__(
            f"There is no locale {locale!r}, and none of its language.",
            next_step="Use the code of another one, such as en-GB or de-DE.",
        )
        self.locale = locale


class ItemBrokenError(CitationStyleError):
    code = "item_broken"

    def __init__(self, item: str, field: str, reason: str) -> None:
        super().__init__(
            f"Item {item!r}, field {field!r}: {reason.rstrip('.')}.",
            next_step="Correct the field and try again.",
        )
        self.item = item
        self.field = field
        self.reason = reason


class ItemNotFoundError(CitationStyleError):
    code = "item_not_found"

    def __init__(self, item: str) -> None:
        super().__init__(
            f"A citation names item {item!r}, which is not among the items.",
            next_step="Add the item first.",
        )
        self.item = item


class CiteBrokenError(CitationStyleError):
    """A citation is not one: no cites, an unknown mode or label, an id that is taken."""

    code = "cite_broken"

    def __init__(self, cluster: str, reason: str, *, next_step: str) -> None:
        name = f"Citation {cluster!r}" if cluster else "A citation"
        super().__init__(f"{name} {reason}.", next_step=next_step)
        self.cluster = cluster
        self.reason = reason


class ClusterNotFoundError(CitationStyleError):
    code = "cluster_not_found"

    def __init__(self, cluster: str) -> None:
        super().__init__(
            f"The document has no citation {cluster!r}.",
            next_step="Use an id that insert() returned.",
        )
        self.cluster = cluster


class StylesMissingError(CitationStyleError):
    """The archive of styles is damaged, or not there: a checkout in which it was never made."""

    code = "styles_missing"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There are no citation styles: {path} is missing, damaged or of another version.",
            next_step="Install the package again, or run `make styles` in a checkout.",
        )
