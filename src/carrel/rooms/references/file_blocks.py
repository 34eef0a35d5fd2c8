"""A file of a reference as a block of an answer."""

from urllib.parse import quote

from carrel.core.answer import Binary, Blocks, Embedded, Text

# What clients draw; every other file is a resource with its media type.
_DRAWN = ("image/", "audio/")


def file_blocks(told: str, reference_id: str, name: str, file: Binary) -> Blocks:
    """What is said of the file, and the file."""
    if file.media_type.startswith(_DRAWN):
        return Blocks((Text(told), file))
    uri = f"library://reference/{quote(reference_id, safe='')}/files/{quote(name, safe='')}"
    return Blocks((Text(told), Embedded(uri, file)))


def file_of(blocks: Blocks) -> Binary | None:
    """The file of such an answer."""
    for part in blocks.parts:
        body = part.content if isinstance(part, Embedded) else part
        if isinstance(body, Binary):
            return body
    return None
