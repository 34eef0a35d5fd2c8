"""The citation-label that is made where an item brings none: parts of the family names and of the
year.
"""

from .items import Item

_shares = {1: (4,), 2: (2, 2), 3: (2, 1, 1)}


def citation_label(item: Item) -> str:
    own = item.fields.get("citation-label")
    if own:
        return own
    names = next(
        (
            item.names[variable]
            for variable in ("author", "editor", "translator")
            if variable in item.names
        ),
        [],
    )
    families = [(name.family or name.literal) for name in names][:4]
    shares = _shares.get(len(families), (1, 1, 1, 1))
    letters = "".join(
        family.replace(" ", "")[:share] for family, share in zip(families, shares, strict=False)
    )
    date = item.dates.get("issued")
    year = f"{abs(date.start[0]) % 100:02d}" if date is not None and date.start[0] else ""
    return letters + year
