"""Pictures: what they show is what the counters say, they are well-formed, and they say it in words too."""

from __future__ import annotations

import itertools
import math
import re
import xml.etree.ElementTree as ET
from collections import Counter

import numpy as np
import pytest

import warplens as wl
from warplens.emulator import LaneAccess
from warplens.machine import machine
from warplens.machine.dram_banks import bus_use
from warplens.report.pictures._axes import LEFT
from warplens.report.pictures.dram_timeline import dram_timeline, marks
from warplens.report.pictures.lanes_to_banks import lanes_to_banks, wavefronts
from warplens.report.pictures.lanes_to_sectors import lanes_to_sectors
from warplens.report.pictures.machine_code import machine_code
from warplens.report.pictures.roofline_path import roofline_path
from warplens.report.pictures.time_against_size import Series, apart, time_against_size
from warplens.report.pictures.warps_of_a_block import warps_of_a_block
from warplens.report.roofline import Roofline

SOURCE = """
extern "C" __global__ void walk(const TYPE* in, TYPE* out, int stride, int offset) {
  extern __shared__ TYPE kept[];
  kept[threadIdx.x] = in[stride * threadIdx.x + offset];
  __syncwarp();
  out[threadIdx.x] = kept[stride * threadIdx.x % 128];
}
"""


def shapes(picture: str) -> Counter[str]:
    root = ET.fromstring(picture)
    assert root.attrib["role"] == "img"
    assert all(root.findtext(f"{{http://www.w3.org/2000/svg}}{part}") for part in ("title", "desc"))
    return Counter(f"{element.tag.split('}')[1]} {element.attrib.get('class', '')}".strip() for element in root.iter())


def walked(kind: str, stride: int, offset: int) -> tuple[wl.Run, list[LaneAccess]]:
    width = {"float": 1, "float2": 2, "float4": 4}[kind]
    x, y = np.zeros(8192, np.float32), np.zeros(32 * width, np.float32)
    kernel = wl.compile(source=SOURCE.replace("TYPE", kind))["walk"]
    run = kernel.launch(1, 32, x, y, np.int32(stride), np.int32(offset), shared=128 * 4 * width)
    return run, [step for step in run.steps() if isinstance(step, LaneAccess)]


@pytest.mark.parametrize(("stride", "offset"), [(1, 0), (1, 3), (2, 0), (3, 1), (32, 0), (0, 5)])
def test_sectors_in_the_picture_are_those_that_are_counted(stride: int, offset: int) -> None:
    run, accesses = walked("float", stride, offset)
    picture = lanes_to_sectors(accesses[0].reached, accesses[0].bytes)
    found = shapes(picture)
    sectors = run["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]
    assert found["rect used"] == sectors
    assert (found["rect used"] + found["rect box"]) / 4 == run["smsp__sass_l1tex_tags_mem_global.sum"] - 1
    assert found["path way"] == 32
    assert f": {sectors} sector" in picture


@pytest.mark.parametrize("kind", ["float", "float2", "float4"])
@pytest.mark.parametrize("stride", [0, 1, 2, 4, 32])
def test_wavefronts_in_the_picture_are_those_that_are_counted(kind: str, stride: int) -> None:
    run, accesses = walked(kind, stride, 0)
    load = [access for access in accesses if access.space == "shared"][-1]
    counted = int(run.trace.wavefronts[load.instruction])
    if kind == "float" or stride:  # where half warps read the same, the hardware joins them
        assert wavefronts(load.reached, load.bytes) == counted
    shapes(lanes_to_banks(load.reached, load.bytes))


def test_conflicts_are_marked_and_wide_lanes_without_one_are_not() -> None:
    conflict = shapes(lanes_to_banks({lane: 128 * lane for lane in range(32)}, 4))
    assert (conflict["rect marked"], conflict["path hotway"]) == (32, 32)
    wide = shapes(lanes_to_banks({lane: 16 * lane for lane in range(32)}, 16))
    assert (wide["rect marked"], wide["rect used"]) == (0, 128)


@pytest.mark.parametrize(("block", "warps"), [((48, 1, 1), 2), ((4, 4, 1), 1), ((8, 8, 1), 2), ((2, 8, 4), 2)])
def test_threads_are_cut_into_warps(block: tuple[int, int, int], warps: int) -> None:
    picture = warps_of_a_block(block)
    threads = block[0] * block[1] * block[2]
    found = shapes(picture)
    assert found["rect even"] == min(threads, 32)
    assert found["rect odd"] == max(threads - 32, 0)
    assert f": {warps} warp" in picture


def test_diverging_warps_and_threads_that_are_off_are_marked() -> None:
    found = shapes(warps_of_a_block((64, 1, 1), {1}, range(43, 64)))
    assert (found["rect even"], found["rect marked"], found["rect box"]) == (32, 11, 21)


def test_the_bus_of_the_timeline_is_as_busy_as_the_formula_says() -> None:
    channels = machine("textbook").channels
    assert channels is not None
    found = shapes(dram_timeline([0] * 4, channels))
    assert found["rect hot"] == 2 * 4  # each burst in its bank and on the bus
    assert f"{100 * bus_use(channels, 1):.3g} % of the time" in dram_timeline([0] * 4, channels)


def test_time_against_size() -> None:
    rungs = {"1_slow": Series([(1e4, 5.0), (1e6, 90.0)], [(1e6, 99.0)]), "2_fast": Series([(1e4, 4.0), (1e6, 50.0)])}
    picture = time_against_size(rungs, "elements", "NVIDIA H200 SXM")
    found = shapes(picture)
    assert (found["path curve"], found["path hotcurve"], found["circle hot"] + found["circle bar"]) == (1, 1, 1)
    assert "2_fast is the fastest with 50.0 µs" in picture
    assert apart({"low": 100.0, "high": 99.0}) == {"high": 99.0, "low": 112.0}
    ends = re.findall(r'L658 ([\d.]+)"/>\s*<text class="name" x="661" y="([\d.]+)">', picture)
    assert [round(float(name) - float(end), 3) for end, name in ends] == [4, 4]  # letters of 12 points in the middle


def test_a_ladder_is_a_path_and_one_launch_a_point() -> None:
    low, high = (Roofline("FP32", x, 100.0 * x, 60_000.0, 4000.0) for x in (0.25, 10.0))
    ladder, one = shapes(roofline_path({"1_naive": low, "2_tiled": high})), shapes(roofline_path({"only": low}))
    assert (ladder["path hotcurve"], ladder["circle hot"]) == (1, 2)
    assert (one["path hotcurve"], one["circle hot"]) == (0, 1)


def test_machine_code_has_a_cell_for_each_instruction_and_a_line_below_each_loop() -> None:
    source = """extern "C" __global__ void add(const float* x, float* y, int n) {
      #pragma unroll 1
      for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + 1;
    }"""
    program = wl.compile(source=source)["add"].program
    found = shapes(machine_code({"add": program, "again": program}, "Code"))
    cells = [found[f"rect {kind}"] for kind in ("used", "marked", "bar", "hot", "odd")]
    opcodes = Counter(instruction.base for instruction in program.body)
    key = 1
    assert cells[:3] == [2 * opcodes[base] + key for base in ("LDG", "STG", "FADD")]
    assert sum(cells) == 2 * len(program.body) + 5 * key
    assert found["path hotway"] == 2 * len(program.loops) == 2


def test_words_cannot_break_the_picture() -> None:
    assert "a &lt; b &amp; c" in lanes_to_sectors({0: 0}, 4, title='a < b & c "d"')
    ET.fromstring(lanes_to_sectors({0: 0}, 4, title='a < b & c "d"'))


def pictures() -> list[str]:
    channels = machine("textbook").channels
    assert channels is not None
    roofline = Roofline("FP32", 0.25, 25.0, 60_000.0, 4000.0)
    return [
        dram_timeline([0, 1, 0, 1], channels), roofline_path({"only": roofline}), warps_of_a_block((48, 1, 1)),
        lanes_to_banks({lane: 8 * lane for lane in range(32)}, 8),
        lanes_to_sectors({lane: 4 * lane for lane in range(32)}, 4),
        time_against_size({"1_one": Series([(1e4, 5.0), (1e6, 90.0)], [])}, "elements", "NVIDIA H200 SXM"),
    ]  # fmt: skip


def test_everything_stands_inside_the_picture() -> None:
    for picture in pictures():
        root = ET.fromstring(picture)
        _, _, width, height = map(float, root.attrib["viewBox"].split())
        for rect in root.iter("{http://www.w3.org/2000/svg}rect"):
            x, y, w, h = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
            assert min(x, y, w, h) >= 0, picture
            assert x + w <= width + 0.1, picture
            assert y + h <= height + 0.1, picture


def test_marks_of_an_axis_and_its_name_end_at_one_line() -> None:
    for picture in pictures()[1::4]:
        ends = [text for text in ET.fromstring(picture).iter() if text.attrib.get("text-anchor") == "end"]
        assert len({text.attrib["x"] for text in ends if text.attrib["class"] == "tiny"}) == 1


@pytest.mark.parametrize(("end", "at"), [(50, range(0, 51, 5)), (73, range(0, 74, 10)), (8, range(0, 9))])
def test_marks_of_the_timeline_are_round_and_reach_the_end(end: int, at: range) -> None:
    assert list(marks(end)) == list(at)


def test_the_slope_of_the_roof_is_one_in_powers_of_ten() -> None:
    found = Roofline("FP32", 40.0, 900.0, 60_000.0, 4000.0)
    picture = roofline_path({"only": found})
    curve = next(e for e in ET.fromstring(picture).iter() if e.attrib.get("class") == "curve")
    numbers = [float(number) for number in re.findall(r"-?[0-9.]+", curve.attrib["d"])]
    (left, low), (ridge, high), (right, end) = zip(numbers[::2], numbers[1::2], strict=True)
    axes = [[float(n) for n in re.findall(r"-?[0-9.]+", e.attrib["d"])] for e in ET.fromstring(picture).iter()
            if e.attrib.get("class") == "axis"]  # fmt: skip
    columns = sorted(a[0] for a in axes if a[0] == a[2])
    rows = sorted(a[1] for a in axes if a[1] == a[3])
    # Marks are at 1, 2, 5 and 10: the widest gap is from 2 to 5.
    decade_x = max(b - a for a, b in itertools.pairwise(columns)) / math.log10(2.5)
    decade_y = max(b - a for a, b in itertools.pairwise(rows)) / math.log10(2.5)
    assert (low - high) / decade_y == pytest.approx((ridge - left) / decade_x, rel=0.01)
    assert end == high
    assert right > ridge > left
    assert left == pytest.approx(LEFT, abs=0.1)  # the roof begins at the edge
