"""Products of tcgen05.mma beside NumPy: kinds, layouts in shared and tensor memory, signs, addends, scales.

The PTX ISA says what they are; no GPU that has them was measured.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import warplens as wl
from helpers.tensor_product_launches import (
    FORMATS,
    LEFT_COLUMN,
    SCALES_A,
    SCALES_B,
    TensorLaunch,
    Words,
    small_numbers,
)

DEPTHS = {"f16": 16, "bf16": 16, "tf32": 8}
SMALL = {"e2m1": 6, "e3m2": 6, "e2m3": 7}  # whole numbers up to so many
FIVE = {"e2m1", "e3m2"}  # 5 is no number of these


def numbers(kind: str, rows: int, seed: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    drawn = small_numbers(rng, rows, DEPTHS.get(kind, 32), SMALL.get(kind, 7))
    drawn = np.where(np.abs(drawn) == 5, 2.0, drawn) if kind in FIVE else drawn
    drawn = np.where(np.abs(drawn) == 7, 1.0, drawn) if kind in ("e5m2", "e2m3", "e3m2") else drawn
    drawn = np.where(np.abs(drawn) == 5, 4.0, drawn) if kind == "e5m2" else drawn
    return np.abs(drawn) if kind == "u8" else drawn


def launch(form: str, kinds: tuple[str, str], rows: int = 128, columns: int = 48, **how: Any) -> TensorLaunch:
    result = "s32" if form.startswith("i8") else "f32"
    a, b = numbers(kinds[0], rows, 1), numbers(kinds[1], columns, 2)
    return TensorLaunch(form, a, b, kinds, **({"result": result} | how))


def values(words: Words, made: TensorLaunch) -> NDArray[np.float64]:
    """D of 128 rows, or of 64 where 16 lanes of each 32 hold it."""
    part = np.ascontiguousarray(words[:, : len(made.b)])
    if made.result == "f16":
        found = part.astype(np.uint16).view(np.float16)
    else:
        found = part.view(np.float32 if made.result == "f32" else np.int32)
    if made.form.endswith("stationary"):  # columns side by side in the lanes
        share = len(made.b) * len(made.a) // 128
        found = found[:, :share].reshape(-1, len(made.a), share).transpose(1, 0, 2).reshape(len(made.a), -1)
    elif len(made.a) == 64:
        found = found.reshape(4, 32, -1)[:, :16].reshape(64, -1)
    return found.astype(np.float64)


def expected(made: TensorLaunch) -> NDArray[np.float64]:
    sign = -1.0 if made.negated[0] != made.negated[1] else 1.0
    return sign * made.a @ made.b.T


QUICK = [
    launch("f16", ("f16", "f16")),
    launch("f16", ("bf16", "bf16"), swizzles=(2, 6), transposed=(False, True)),
    launch("tf32", ("tf32", "tf32"), rows=64, columns=8, swizzles=(4, 0), negated=(True, False)),
    launch("f8f6f4", ("e4m3", "e5m2"), swizzles=(6, 2), transposed=(True, False)),
    launch("i8", ("u8", "s8"), columns=256, swizzles=(0, 4)),
]
MORE = [
    *(
        launch("f16", ("f16", "f16"), swizzles=(s, 6 - s), transposed=(t, t))
        for s in (0, 2, 4, 6)
        for t in (False, True)
    ),
    launch("tf32", ("tf32", "tf32"), transposed=(True, True)),
    launch("f16 stationary", ("f16", "f16"), rows=32, columns=64),
    launch("f16 stationary", ("bf16", "bf16"), rows=64, columns=128, swizzles=(2, 2)),
    launch("i8 stationary", ("s8", "s8"), columns=64),
    launch("f8f6f4", ("e2m1", "e3m2"), swizzles=(2, 4)),
    launch("f8f6f4", ("e2m3", "e4m3"), negated=(True, True)),
    launch("f8f6f4", ("e5m2", "e2m1"), swizzles=(6, 6), negated=(False, True)),
    launch("i8", ("s8", "u8"), rows=64, columns=24, transposed=(True, True), swizzles=(2, 0)),
    launch("f16", ("f16", "f16"), result="f16", columns=256),
    launch("f8f6f4", ("e4m3", "e4m3"), result="f16", rows=64, columns=8),
]


@pytest.mark.parametrize("made", [*QUICK, *(pytest.param(m, marks=pytest.mark.long) for m in MORE)])
def test_products_of_small_whole_numbers_are_exact(made: TensorLaunch) -> None:
    out, _ = made.run()
    assert (values(out, made) == expected(made)).all()


def test_addends() -> None:
    """Also divided by a power of two; lanes that are masked keep what they have."""
    made = launch("f16", ("f16", "f16"), adds=True)
    before = np.random.default_rng(3).integers(-40, 40, (128, 512)).astype(np.float32)
    made = replace(made, cells=before.view(np.uint32))
    product, given = expected(made), before[:, :48].astype(np.float64)
    assert (values(made.run()[0], made) == product + given).all()
    assert (values(replace(made, form="f16 halved").run()[0], made) == product + given / 8).all()
    some = replace(made, form="f16 leaving", lanes=(0xFFFF, 0, 1 << 31, 0))
    left = np.zeros(128, bool)
    left[:16] = left[95] = True
    assert (values(some.run()[0], some) == np.where(left[:, None], given, product + given)).all()


@pytest.mark.parametrize("kind", ["bf16", "e4m3", pytest.param("tf32", marks=pytest.mark.long)])
def test_a_in_tensor_memory(kind: str) -> None:
    """Elements side by side in the columns of a row's lane."""
    form = {"bf16": "f16", "e4m3": "f8f6f4", "tf32": "tf32"}[kind]
    made = launch(f"{form} from cells", (kind, kind))
    bits = FORMATS[kind].bits
    words = FORMATS[kind].encode(made.a).astype(f"u{bits // 8}")
    cells = np.zeros((128, 512), np.uint32)
    cells[:, LEFT_COLUMN : LEFT_COLUMN + words.shape[1] * bits // 32] = words.view(np.uint32)
    out, _ = replace(made, cells=cells).run()
    assert (values(out, made) == expected(made)).all()


def scaled(form: str, kind: str, scale: str, blocks: int) -> None:
    """Scales lie as a copy of 32 rows by 4 columns of 4 bytes, repeated in each quarter, places them."""
    rng, depth = np.random.default_rng(5), 32 if form == "mxf8f6f4" else 64
    drawn = [np.where(np.abs(x) == 5, 2, x) for x in (small_numbers(rng, n, depth, 6) for n in (128, 64))]
    scales = [rng.integers(0, 3, (len(x), blocks)) for x in drawn]  # exponents
    cells = np.zeros((128, 512), np.uint32)
    for place, powers in ((SCALES_A, scales[0]), (SCALES_B, scales[1])):
        bytes = powers + 127 if scale == "ue8m0" else (powers + 7) << 3
        for row, of_row in enumerate(bytes):
            word = sum(int(byte) << 8 * k for k, byte in enumerate(of_row))
            cells[row % 32 :: 32, place + row // 32] = word
    made = TensorLaunch(form, drawn[0], drawn[1], (kind, kind), cells=cells, bits=(scale == "ue8m0") << 23)
    left, right = (x * np.repeat(2.0**p, depth // blocks, axis=1) for x, p in zip(drawn, scales, strict=True))
    assert (values(made.run()[0], made) == left @ right.T).all()


def test_scaled_floats_of_4_bits() -> None:
    scaled("mxf4nvf4", "mxf4", "ue4m3", 4)


@pytest.mark.long
def test_other_scaled_floats() -> None:
    scaled("mxf4", "mxf4", "ue8m0", 2)
    scaled("mxf8f6f4", "e4m3", "ue8m0", 1)
    scaled("mxf8f6f4", "e2m1", "ue8m0", 1)


@pytest.mark.parametrize("kind", ["bf16", "s8", *(pytest.param(k, marks=pytest.mark.long) for k in ("tf32", "e4m3"))])
def test_sparse_products(kind: str) -> None:
    """Metadata as CUTLASS lays them out: a bit each element along K of bytes, in the row's lane; of others half a word
    for each of two rows, and the second half of K 8 lanes further."""
    form = {"bf16": "f16", "s8": "i8", "tf32": "tf32", "e4m3": "f8f6f4"}[kind]
    rng = np.random.default_rng(6)
    of, kept = (2, 1) if kind == "tf32" else (4, 2)
    a, b = numbers(kind, 128, 1), np.hstack([numbers(kind, 64, seed) for seed in (2, 3)])
    groups = a.shape[1] // kept
    cells, whole = np.zeros((128, 512), np.uint32), np.zeros((128, b.shape[1]))
    for row in range(128):
        for group in range(groups):
            places = np.sort(rng.permutation(of)[:kept])
            whole[row, of * group + places] = a[row, kept * group : kept * (group + 1)]
            names = (4, 14)[places[0]] if kind == "tf32" else int(places[0] | places[1] << 2)
            if kind in ("s8", "e4m3"):
                lane, bit = row, 4 * group
            else:
                lane, bit = row % 8 + group // 4 * 8 + row // 16 * 16, row // 8 % 2 * 16 + group % 4 * 4
            cells[lane, SCALES_A + bit // 32] |= names << bit % 32
    result = "s32" if kind == "s8" else "f32"
    made = TensorLaunch(f"{form} sparse", a, b, (kind, kind), result=result, cells=cells, bits=1 << 2)
    assert (values(made.run()[0], made) == whole @ b.T).all()


def test_counts_and_notes() -> None:
    """They say that no GPU has confirmed them; no time is predicted."""
    _, run = launch("f16", ("f16", "f16")).run()
    names = ("tc", "tc_scope_1cta", "tc_scope_2cta", "tmem")
    found = [run.metrics[f"sm__inst_executed_pipe_{name}.sum"] for name in names]
    assert [metric.value for metric in found] == [1, 1, 0, 4 * 64 + 4 * 32]
    assert {metric.provenance for metric in found} == {"modelled"}
    assert any(note.startswith("unproven: tcgen05") for note in run.subject.notes)
    with pytest.raises(wl.Unpredictable, match="no GPU that has tensor memory"):
        run.predict("b200")


def test_sums_are_cut_off_as_those_of_wgmma() -> None:
    """25 places behind the largest exponent, to a float towards zero."""
    made = launch("f16", ("bf16", "bf16"), columns=16)
    made.a[:], made.b[:] = 0, 0
    made.a[:, 0], made.b[:, 0] = 1, 2.0**25
    made.a[:, 1], made.b[:, 1] = 1, 1.0
    made.a[:, 2], made.b[:, 2] = 1, 0.5  # cut off
    out, _ = made.run()
    assert set(values(out, made).ravel()) == {2.0**25}
    made.b[:, 0] = 2.0**23
    assert set(values(made.run()[0], made).ravel()) == {2.0**23 + 1}


def test_infinite_and_undefined_sums() -> None:
    made = launch("f16", ("f16", "f16"), columns=16)
    made.a[0, 0], made.b[3, 5] = np.inf, np.nan
    found = values(made.run()[0], made)
    with np.errstate(invalid="ignore"):
        plain = expected(made)
    assert np.isnan(found[:, 3]).all()
    assert np.array_equal(found, plain, equal_nan=True)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"bits": 1 << 2 | 1}, r"tcgen05\.mma with an instruction descriptor of no product.*: 0x"),
        ({"kinds": ("f16", "bf16")}, r"tcgen05\.mma with an instruction descriptor of no product"),
        ({"columns": 40}, r"tcgen05\.mma with an instruction descriptor of no product"),
    ],
)
def test_descriptors_of_no_product(how: dict[str, Any], told: str) -> None:
    with pytest.raises(wl.KernelFault, match=told + r".*\n  at source\.cu.*UTCHMMA"):
        launch("f16", **({"kinds": ("f16", "f16")} | how)).run()


def test_a_matrix_outside_of_shared_memory() -> None:
    made = launch("f16", ("f16", "f16"))
    with pytest.raises(wl.KernelFault, match=r"out-of-bounds shared read .* outside the shared memory of the block"):
        replace(made, offset=2047).run()
