"""The first sentence of a report."""

from __future__ import annotations

import pytest

from warplens.report.subject import Subject
from warplens.report.verdict import of_all, per, share, verdict

TOLD = [
    ("nccopy", "nccopy: half of the sectors that its global loads move are needless (8 a request where 4 would do)"),
    # 32 lanes of a column meet in one bank: 31 of 32 passes are conflicts
    ("transpose", "transpose: 97 % of the wavefronts of its shared loads are bank conflicts "
                  "(32 a request where 1 would do)"),
    ("one_block", "ccopy: its 1 block keeps at most 1 of the 132 multiprocessors of the NVIDIA H200 SXM busy"),
]  # fmt: skip


@pytest.mark.parametrize(("subject", "sentence"), TOLD, indirect=["subject"])
def test_tells_the_heaviest_fact(subject: Subject, sentence: str) -> None:
    assert verdict(subject) == sentence


@pytest.mark.parametrize("subject", ["odd"], indirect=True)
def test_tells_of_lanes_that_part(subject: Subject) -> None:
    assert "of the 32 threads of a warp do something" in verdict(subject)
    assert "two ways" in verdict(subject)


@pytest.mark.parametrize("subject", ["ccopy"], indirect=True)
def test_calls_a_clean_kernel_clean(subject: Subject) -> None:
    assert verdict(subject).startswith("ccopy: every access is perfectly packed; a warp executes")


@pytest.mark.parametrize(
    ("part", "words"), [(0.5, "half of"), (1 / 3, "a third of"), (0.87, "87 % of"), (0.52, "52 % of")]
)
def test_speaks_of_fractions(part: float, words: str) -> None:
    assert of_all(part) == words


@pytest.mark.parametrize(
    ("part", "words"), [(0, "0 %"), (0.004, "0.4 %"), (0.9991, "99.9 %"), (1, "100 %"), (0.256, "26 %")]
)
def test_a_share_is_never_rounded_to_nothing_or_all(part: float, words: str) -> None:
    assert share(part) == words


@pytest.mark.parametrize(("amount", "words"), [(4.0, "4"), (8.5, "8.5"), (1024.0, "1,024")])
def test_amounts_are_short(amount: float, words: str) -> None:
    assert per(amount) == words
