"""The small model: its pieces of words, its graph, and that near meanings come out near."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from carrel.services.sentence_vectors.wordpiece import WordPieces

PIECES = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##want",
    "##ed",
    "running",
    "##,",
    ",",
    "muller",
    "深",
    "度",
    "-",
    "a",
]


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> WordPieces:
    file: Path = tmp_path_factory.mktemp("model") / "vocab.txt"
    file.write_text("\n".join(PIECES), encoding="utf-8")
    return WordPieces(file)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("unwanted, running", ["un", "##want", "##ed", ",", "running"]),
        ("Müller", ["muller"]),
        ("深度", ["深", "度"]),
        ("a-a", ["a", "-", "a"]),
        ("nonsense a", ["[UNK]", "a"]),
        ("x" * 101, ["[UNK]"]),
        ("", []),
    ],
)
def test_words_are_cut_into_the_longest_known_pieces(
    pieces: WordPieces, text: str, expected: list[str]
) -> None:
    assert [PIECES[number] for number in pieces.numbers(text, 20)] == ["[CLS]", *expected, "[SEP]"]


def test_a_long_text_is_cut_and_still_closed(pieces: WordPieces) -> None:
    numbers = pieces.numbers("a " * 50, 8)
    assert len(numbers) == 8
    assert PIECES[numbers[-1]] == "[SEP]"


@given(text=st.text(max_size=60))
def test_any_text_becomes_numbers(pieces: WordPieces, text: str) -> None:
    numbers = pieces.numbers(text, 16)
    assert 2 <= len(numbers) <= 16
    assert all(0 <= number < len(PIECES) for number in numbers)


def test_near_meanings_come_out_near() -> None:
    numpy = pytest.importorskip("numpy", reason="the extra `semantic` is not installed")
    pytest.importorskip("onnxruntime", reason="the extra `semantic` is not installed")
    from carrel.services.sentence_vectors.minilm import DIMENSIONS, MiniLm, model_folder

    folder = model_folder()
    if folder is None:
        pytest.skip("the model is not installed (make semantic)")
    model = MiniLm(folder)
    food, bread, cheetah = (
        model.vector(text)
        for text in (
            "A man is eating food.",
            "A man eats a piece of bread.",
            "The cheetah runs behind its prey.",
        )
    )
    assert food.shape == (DIMENSIONS,)
    assert numpy.linalg.norm(food) == pytest.approx(1.0, abs=1e-5)
    assert food @ bread > 0.6
    assert food @ cheetah < 0.3
