"""Products of warpgroups (wgmma) in every type, swizzle and direction: bit for bit those of an H200."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helpers.kernel_launches import written
from helpers.warpgroup_launches import BLOCKS, SHARED, GroupForm, crc, measured_forms

FORMS = measured_forms()
QUICK = {("f32", "bf16", True), ("f16", "f16", False), ("f32", "tf32", False), ("s32", "s8", True)}


def is_quick(form: GroupForm) -> bool:
    """Of some kinds the smallest dense form."""
    small = form.columns == 16 and form.selector is None
    return small and not form.saturates and (form.result, form.a, form.registers) in QUICK and form.a == form.b


def numbered(form: GroupForm) -> str:
    sparse = "sp_" if form.selector is not None else ""
    return f"{form.number}_{sparse}{form.result}_{form.a}_{form.b}_{form.columns}"


@pytest.mark.every(50)
@pytest.mark.parametrize(
    "form", [pytest.param(f, id=numbered(f), marks=() if is_quick(f) else pytest.mark.long) for f in FORMS]
)
def test_products_are_those_of_an_h200(form: GroupForm) -> None:
    """Of usual numbers, of powers of two, of numbers far apart, of infinities and NaNs; with addends and without."""
    for counted in (True, False):
        arrays = form.inputs()
        kernel = written(f"{form.source}", form.name, "sm_90a")
        kernel.launch(BLOCKS if counted else 1, 128, *arrays, np.int32(counted), shared=SHARED)
        assert crc(arrays[4], counted) == form.crcs[counted]


def test_every_kind_is_measured() -> None:
    assert {(form.a, form.b) for form in FORMS} >= {("e4m3", "e5m2"), ("u8", "s8"), ("b1", "b1"), ("tf32", "tf32")}
    assert {form.transposed for form in FORMS if form.selector is not None} >= {(True, True), (False, True)}


def test_sums_of_more_than_31_bits() -> None:
    """All digits of all factors are ones: such sums leave the whole numbers in which others are formed."""
    form = next(form for form in FORMS if is_quick(form) and form.a == "bf16")
    arrays = form.inputs()
    arrays[0][:], arrays[2][:], arrays[3][:] = 0x3FFF3FFF, 0x3FFF3FFF, 0x3FFFFFFF
    written(form.source, form.name, "sm_90a").launch(BLOCKS, 128, *arrays, np.int32(1), shared=SHARED)
    exact = 16 * 1.9921875**2 + 2 - 2.0**-23
    assert set(arrays[4].view(np.float32)) == {np.float32(math.floor(exact * 2**17) / 2**17)}  # 24 digits
