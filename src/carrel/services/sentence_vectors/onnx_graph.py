"""Writes an ONNX graph as bytes: just the few messages of the format that a small network needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

_OPSET, _CONTRIBUTED = 17, "com.microsoft"
_IR_VERSION = 8
_DATA_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int64": 7}
_FLOAT, _INT = 1, 2

Array = NDArray[Any]


@dataclass
class Graph:
    """Nodes and constants in order; `add` returns the name of a node's output."""

    inputs: Sequence[tuple[str, Sequence[str | int]]]
    _nodes: list[bytes] = field(default_factory=list)
    _constants: list[bytes] = field(default_factory=list)
    _count: int = 0

    def constant(self, value: Array) -> str:
        name = self._name("c")
        body = b"".join(_number(1, size) for size in value.shape)
        body += (
            _number(2, _DATA_TYPES[value.dtype.name])
            + _text(8, name)
            + _bytes(9, np.ascontiguousarray(value).tobytes())
        )
        self._constants.append(_bytes(5, body))
        return name

    def add(
        self,
        operator: str,
        inputs: Iterable[str],
        *,
        is_contributed: bool = False,
        **attributes: float | int,
    ) -> str:
        name = self._name("n")
        body = b"".join(_text(1, wanted) for wanted in inputs) + _text(2, name) + _text(4, operator)
        body += b"".join(_bytes(5, _attribute(key, value)) for key, value in attributes.items())
        body += _text(7, _CONTRIBUTED) if is_contributed else b""
        self._nodes.append(_bytes(1, body))
        return name

    def model(self, output: str, shape: Sequence[str | int]) -> bytes:
        graph = b"".join(self._nodes) + _text(2, "carrel") + b"".join(self._constants)
        graph += b"".join(_bytes(11, _value(name, sizes)) for name, sizes in self.inputs) + _bytes(
            12, _value(output, shape)
        )
        sets = _bytes(8, _text(1, "") + _number(2, _OPSET)) + _bytes(
            8, _text(1, _CONTRIBUTED) + _number(2, 1)
        )
        return _number(1, _IR_VERSION) + _text(2, "carrel") + _bytes(7, graph) + sets

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"


def _attribute(name: str, value: float | int) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, _INT)
    return _text(1, name) + _varint(2 << 3 | 5) + np.float32(value).tobytes() + _number(20, _FLOAT)


def _value(name: str, shape: Sequence[str | int]) -> bytes:
    sizes = b"".join(
        _bytes(1, _text(2, size) if isinstance(size, str) else _number(1, size)) for size in shape
    )
    return _text(1, name) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, sizes)))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(place: int, value: int) -> bytes:
    return _varint(place << 3) + _varint(value)


def _bytes(place: int, body: bytes) -> bytes:
    return _varint(place << 3 | 2) + _varint(len(body)) + body


def _text(place: int, text: str) -> bytes:
    return _bytes(place, text.encode())
