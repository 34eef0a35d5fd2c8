"""Errors of citation rendering, each with a code that never changes and a next step."""


class CitationStyleError(Exception):
    """Something in a style, a locale or an item stops the work; `code` never changes."""

    code = "citation_style_failed"

    def __init__(self, message: str, *, next_step: str = "") -> None:
        super().__init__(f"{message} {next_step}".strip())
        self.message = message
        self.next_step = next_step


class StyleNotFoundError(CitationStyleError):
    code = "style_not_found"

    def __init__(self, style: str) -> None:
        super().__init__(
            f"There is no citation style {style!r}.",
            next_step="Search the list of styles for its id.",
        )
        self.style = style


class StyleBrokenError(CitationStyleError):
    code = "style_broken"

    def __init__(self, style: str, reason: str) -> None:
        super().__init__(
            f"The citation style {style!r} cannot be used: {reason}",
            next_step="Choose another style or repair its XML.",
        )
        self.style = style
        self.reason = reason


class LocaleBrokenError(CitationStyleError):
    code = "locale_broken"

    def __init__(self, locale: str, reason: str) -> None:
        super().__init__(
            f"The locale {locale!r} cannot be used: {reason}", next_step="Use another locale."
        )
        self.locale = locale
        self.reason = reason


class ItemBrokenError(CitationStyleError):
    code = "item_broken"

    def __init__(self, item: str, field: str, reason: str) -> None:
        super().__init__(
            f"Item {item!r}, field {field!r}: {reason}",
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


class StylesMissingError(CitationStyleError):
    """The archive of styles is damaged, or not there: a checkout in which it was never made."""

    code = "styles_missing"

    def __init__(self, path: str) -> None:
        super().__init__(
            f"There are no citation styles: {path} is missing, damaged or of another version.",
            next_step="Install the package again, or run `make styles` in a checkout.",
        )
