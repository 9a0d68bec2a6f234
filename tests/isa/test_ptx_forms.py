"""What the executor makes of each PTX instruction, as an H200, bit for bit; what PTX means is the same everywhere."""

from __future__ import annotations

import pytest
from ptx_forms import Form, digest, forms, left_behind, module

STEP = 50
OTHERS = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_100", "sm_120")


def wrong(chosen: list[Form], arch: str) -> list[str]:
    made, lines = module(chosen, arch)
    return [form.line for form in lines if made and digest(left_behind(made, form), form) != form.digest]


def without_oob(chosen: list[Form]) -> list[Form]:
    """.oob is for what the tensor memory accelerator fills in, which is not here."""
    return [form for form in chosen if ".oob" not in form.line]


def test_a_sample() -> None:
    assert wrong(without_oob(list(forms()[::40])), "sm_90") == []


@pytest.mark.long
@pytest.mark.parametrize("there", ["sm_90", *OTHERS])
@pytest.mark.parametrize("start", range(0, len(forms()), STEP))
def test_bit_for_bit(start: int, there: str) -> None:
    assert wrong(without_oob(list(forms()[start : start + STEP])), there) == []


def test_a_wrong_result_is_seen() -> None:
    (form,) = (form for form in forms() if form.line == "add.s32 %r9, %r1, %r2;")
    made, _ = module([form], "sm_90")
    assert made is not None
    memory = left_behind(made, form)
    memory[128] ^= 1
    assert digest(memory, form) != form.digest
