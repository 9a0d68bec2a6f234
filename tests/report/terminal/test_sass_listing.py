"""The listing: names, words, counts, and that it fits the page."""

from __future__ import annotations

import io
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import warplens as wl
from warplens.core.program import Constant, Register
from warplens.report.constant_names import constant_names
from warplens.report.terminal.console_layout import console
from warplens.report.terminal.sass_listing import SassListing, document, rows, show

LESSONS = Path(__file__).parents[2] / "kernels" / "lessons.cu"
SOURCE = """
struct Point { float x; int y; };
extern "C" __global__ void shift(const float* in, float* out, Point by, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + by.x + by.y;
}
"""
PARAMETERS = {"sm_75": 0x160, "sm_80": 0x160, "sm_90": 0x210, "sm_120": 0x380}  # found in cubins of each
GRID = {"sm_75": 0xC, "sm_80": 0xC, "sm_90": 0xC, "sm_120": 0x370}


@cache
def compiled(arch: str = "sm_90") -> wl.LaunchableKernel:
    return wl.compile(source=SOURCE, arch=arch)["shift"]


def listing(launched: bool = True) -> SassListing:
    found = compiled()
    if not launched:
        return SassListing("shift", found.kernel, found.program, found.cubin.sources)
    x = np.ones(96, np.float32)
    run = found.launch((2,), (64,), x, np.zeros_like(x), np.array([1, 2], np.float32).tobytes(), np.int32(96))
    return SassListing("shift", found.kernel, found.program, found.cubin.sources, (), run.trace)


def printed(shown: SassListing, width: int = 100) -> str:
    file = io.StringIO()
    out = console(file)
    out.width = width
    show(shown, out)
    return file.getvalue()


@pytest.mark.parametrize("arch", sorted(PARAMETERS))
def test_names_of_constants(arch: str) -> None:
    name_of = constant_names(compiled(arch).kernel, {"source.cu": SOURCE})
    base = PARAMETERS[arch]
    inside = {0: "in", 4: "high word of in", 8: "out", 16: "by", 20: "high word of by", 24: "n", 28: None}
    assert {k: name_of(Constant(0, base + k)) for k in inside} == inside
    assert name_of(Constant(0, GRID[arch] + 4)) == "gridDim.y"
    assert name_of(Constant(3, base)) is None
    assert name_of(Constant(0, base, Register("R", 2))) is None
    assert name_of(Constant(0, base, Register("R", -1))) == "in"


def test_names_without_source() -> None:
    name_of = constant_names(compiled().kernel, {}, ("first", ""))
    assert [name_of(Constant(0, 0x210 + k)) for k in (0, 8, 24)] == ["first", "param1", "param3"]


def test_parameters_and_launch_stand_in_the_words() -> None:
    words = [row.words for row in rows(listing(False))]
    assert any("blockDim.x" in line for line in words)
    assert any(line.endswith("= n") for line in words)
    assert any(line.endswith("= in") for line in words)
    assert not any("c[0]" in line for line in words)


def test_counts() -> None:
    """Two blocks of two warps, of which the last has nothing to do."""
    found = rows(listing())
    assert found[0].executed == 4
    assert found[0].lanes == 32
    (load,) = [row for row in found if row.instruction.base == "LDG"]
    assert load.executed == 3
    assert load.moved == (4.0, "sectors")
    assert [row.moved for row in found if row.instruction.base == "IMAD"] == [None] * sum(
        row.instruction.base == "IMAD" for row in found
    )


def test_without_a_launch_there_are_no_counts() -> None:
    assert {(row.executed, row.lanes, row.moved) for row in rows(listing(False))} == {(None, None, None)}
    assert "executed" not in printed(listing(False))


@pytest.mark.parametrize("width", [80, 100])
def test_fits_the_page(width: int) -> None:
    text = printed(listing(), width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert "if (i < n) out[i] = in[i] + by.x + by.y;" in text


def test_long_words_are_wrapped() -> None:
    module = wl.compile(str(LESSONS))
    for name in ("nccopy", "matmul_naive", "reduce_unroll8_warp"):
        found = module[name]
        text = printed(SassListing(name, found.kernel, found.program, found.cubin.sources))
        words = [line for line in text.splitlines() if line.startswith(" " * 13)]
        assert words
        assert max(len(line) for line in words) <= 80


def test_every_instruction_but_the_padding_is_listed() -> None:
    found = rows(listing(False))
    offsets = [row.instruction.offset for row in found]
    assert offsets == list(range(0, 16 * len(found), 16))
    assert found[-1].instruction.base == "EXIT"


def test_document() -> None:
    content = json.loads(document(listing()))
    assert content["kernel"] == "shift"
    load = next(i for i in content["instructions"] if i["opcode"].startswith("LDG"))
    assert (load["executed"], load["sectors_per_request"], load["wavefronts_per_request"]) == (3, 4, None)
    assert load["source"]["text"].strip().startswith("if (i < n)")
    assert "bounds check" in [idiom["name"] for idiom in content["idioms"]]
    assert json.loads(document(listing(False)))["instructions"][0]["executed"] is None
