"""From an address such as s3://bucket/prefix to the object store behind it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from carrel.core.errors import NotConfiguredError
from carrel.stores.objects.folder import FolderObjects
from carrel.stores.objects.store import BadStoreAddressError, ObjectStore

_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")


def open_objects(url: str) -> ObjectStore:
    """The store at an address; nothing is asked of it yet.

    Raises BadStoreAddressError, and NotConfiguredError where its driver is not installed.
    """
    parts = urlsplit(url)
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise BadStoreAddressError(url, "it has more than a bucket and a prefix")
    if parts.scheme == "file":
        folder = Path(unquote(parts.path))
        if parts.netloc not in {"", "localhost"} or not folder.is_absolute():
            raise BadStoreAddressError(url, "a folder is written with three slashes")
        return FolderObjects(folder)
    if parts.scheme not in {"s3", "gs"}:
        raise BadStoreAddressError(url, "it is neither s3://, gs:// nor file:///")
    if not _BUCKET.fullmatch(parts.netloc):
        raise BadStoreAddressError(url, "it names no bucket")
    prefix = parts.path.strip("/")
    try:
        from carrel.stores.objects.remote import open_gcs, open_s3
    except ImportError as error:
        raise NotConfiguredError(
            f"{url} needs obstore, which is not installed",
            next_step='Install it with pip install "carrel[objects]", or name a shared folder '
            "with file:///FOLDER.",
            details={"setting": "papers.corpus_url"},
        ) from error
    if parts.scheme == "gs":
        return open_gcs(parts.netloc, prefix)
    endpoint = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    return open_s3(parts.netloc, prefix, allows_http=endpoint.startswith("http://"))
