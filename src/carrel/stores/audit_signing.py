"""The Ed25519 key that signs the anchors of the audit log, kept in a file for its owner only."""

from __future__ import annotations

import hashlib
import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)


class Ed25519Signer:
    """Signs with one private key."""

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key
        self.check = Ed25519Check(key.public_key())

    @property
    def fingerprint(self) -> str:
        return self.check.fingerprint

    def sign(self, body: bytes) -> bytes:
        return self._key.sign(body)


class Ed25519Check:
    """Checks the signatures of one key."""

    def __init__(self, key: Ed25519PublicKey) -> None:
        self._key = key
        raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        self._fingerprint = hashlib.sha256(raw).hexdigest()[:32]

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    def is_valid(self, body: bytes, signature: bytes) -> bool:
        try:
            self._key.verify(signature, body)
        except InvalidSignature:
            return False
        return True


def new_private_key() -> bytes:
    """A new key as PEM."""
    return Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )


def signer_from_pem(pem: bytes, where: str) -> Ed25519Signer:
    """The signer of a private key; OSError where it is no key of the kind we use."""
    try:
        key = load_pem_private_key(pem, None)
    except (ValueError, TypeError) as error:
        raise OSError(f"{where} is not a private key: {error}") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise OSError(f"{where} is not an Ed25519 key")
    return Ed25519Signer(key)


def check_from_pem(pem: bytes, where: str) -> Ed25519Check:
    """The check of a key, private or public; OSError where it is neither."""
    if b"PRIVATE KEY" in pem:
        return signer_from_pem(pem, where).check
    try:
        key = load_pem_public_key(pem)
    except (ValueError, TypeError) as error:
        raise OSError(f"{where} is not a key: {error}") from None
    if not isinstance(key, Ed25519PublicKey):
        raise OSError(f"{where} is not an Ed25519 key")
    return Ed25519Check(key)


def load_or_make_key(file: Path) -> Ed25519Signer:
    """The key in a file, made on first use; of two makers the first one wins."""
    try:
        return signer_from_pem(file.read_bytes(), str(file))
    except FileNotFoundError:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
    descriptor = os.open(
        draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600
    )
    try:
        try:
            os.write(descriptor, new_private_key())
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(draft, file)
        except FileExistsError:
            pass
        except OSError:
            # A disk without second names: the last of two that start at once wins, and the other
            # reads its key below.
            draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
    return signer_from_pem(file.read_bytes(), str(file))
