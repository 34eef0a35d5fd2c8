"""Refresh tokens of a provider, encrypted for the store: a stolen database does not hold them."""

from __future__ import annotations

import base64
import binascii
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NONCE_BYTES = 12


class Sealer:
    """Encrypts with a key derived from the client secret, bound to the sign-in it is for."""

    def __init__(self, client_secret: str) -> None:
        derive = HKDF(hashes.SHA256(), 32, salt=None, info=b"carrel sign-in refresh tokens")
        self._cipher = AESGCM(derive.derive(client_secret.encode()))

    def seal(self, text: str, sign_in_id: str) -> str:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = self._cipher.encrypt(nonce, text.encode(), sign_in_id.encode())
        return base64.b64encode(nonce + sealed).decode()

    def open(self, sealed: str, sign_in_id: str) -> str | None:
        """The text, or None where the client secret has changed since."""
        try:
            packed = base64.b64decode(sealed)
            nonce, body = packed[:_NONCE_BYTES], packed[_NONCE_BYTES:]
            return self._cipher.decrypt(nonce, body, sign_in_id.encode()).decode()
        except (InvalidTag, binascii.Error, ValueError):
            return None
