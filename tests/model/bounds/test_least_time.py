"""The least time of a launch, against times worked out by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import warplens as wl
from warplens.errors import UsageError
from warplens.model import Bound, LeastTime
from warplens.model import floor as least_time
from warplens.model.bounds.least_time import known
from warplens.model.bounds.limits import pacing
from warplens.report.html.launch_page import page
from warplens.report.json.document import schema
from warplens.run import Run

CLOCK = 1980  # MHz, of an H200

SOURCE = """
extern "C" __global__ void copy(const float* in, float* out, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[i]; }
extern "C" __global__ void chain(float* out, float a, float b)
{ float x = a;
  #pragma unroll
  for (int i = 0; i < 512; i++) x = x * b + a;
  out[threadIdx.x] = x; }
extern "C" __global__ void columns(float* out)
{ __shared__ float tile[32 * 32];
  tile[threadIdx.x * 32] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = tile[threadIdx.x * 32]; }
extern "C" __global__ void roots(float* out)
{ out[threadIdx.x] = rsqrtf(out[threadIdx.x]); }
extern "C" __global__ void doubles(double* out, double a)
{ out[threadIdx.x] = out[threadIdx.x] * a + a; }
"""


@pytest.fixture(scope="module")
def module() -> wl.Module:
    return wl.compile(source=SOURCE)


def copy_of(module: wl.Module, count: int) -> Run:
    data = np.zeros(count, np.float32)
    out = np.zeros(count, np.float32)
    return module["copy"].launch(-(-count // 128), 128, data, out, np.int32(count), gpu="h200")


def bound_of(floor: LeastTime, name: str) -> Bound:
    return next(bound for bound in floor.bounds if bound.name == name)


def test_the_folder_is_the_list_of_limits() -> None:
    folder = Path(pacing.__file__).parent
    assert len(known()) == len([path for path in folder.glob("*.py") if path.stem != "__init__"])


def test_a_copy_reads_its_input_once(module: wl.Module) -> None:
    run = copy_of(module, 1 << 20)
    dram = bound_of(run.floor(), "dram")
    assert dram.microseconds == pytest.approx((4 << 20) / 4.8e12 * 1e6)
    assert dram.assumes == "no sector is loaded twice"
    assert bound_of(run.floor(), "l1").microseconds == pytest.approx((4 << 20) / 128 / 132 / CLOCK)


def test_issue_slots_are_those_of_all_multiprocessors(module: wl.Module) -> None:
    run = copy_of(module, 1 << 20)
    expected = run["smsp__inst_executed.sum"] / 4 / 132 / CLOCK
    assert bound_of(run.floor(), "issue").microseconds == pytest.approx(expected)


def test_a_dependent_chain_costs_four_cycles_a_link(module: wl.Module) -> None:
    """One warp: 512 dependent FFMA, 4 cycles apart, and some thirty instructions around them."""
    run = module["chain"].launch(1, 32, np.zeros(32, np.float32), np.float32(1), np.float32(2), gpu="h200")
    floor = run.floor()
    assert floor.limit is not None
    assert floor.limit.name == "pacing"
    assert 512 * 4 <= floor.microseconds * CLOCK < 512 * 4 + 120


def test_warps_that_are_resident_pace_at_once(module: wl.Module) -> None:
    """An H200 holds 132 x 64 warps; twice as many take twice as long."""

    def pace(blocks: int) -> float:
        run = module["chain"].launch(blocks, 128, np.zeros(128, np.float32), np.float32(1), np.float32(2), gpu="h200")
        return bound_of(run.floor(), "pacing").microseconds

    assert pace(132 * 16) == pytest.approx(pace(1))
    assert pace(132 * 32) == pytest.approx(2 * pace(1))


def test_a_column_of_a_tile_takes_a_wavefront_a_lane(module: wl.Module) -> None:
    run = module["columns"].launch(1, 32, np.zeros(32, np.float32), gpu="h200")
    assert bound_of(run.floor(), "shared").microseconds == pytest.approx(64 / CLOCK)


@pytest.mark.parametrize(("name", "unit", "kind", "lanes"),
                         [("roots", "special", np.float32, 16), ("doubles", "fp64", np.float64, 64)])  # fmt: skip
def test_an_instruction_takes_its_lanes(module: wl.Module, name: str, unit: str, kind: type, lanes: int) -> None:
    scalars = [np.float64(2)] if kind is np.float64 else []
    run = module[name].launch(1, 32, np.ones(32, kind), *scalars, gpu="h200")
    assert bound_of(run.floor(), unit).microseconds == pytest.approx(32 / lanes / CLOCK)


@pytest.mark.parametrize("field", ["dram_gigabytes_per_second", "boost_megahertz", "multiprocessors"])
def test_twice_of_anything_is_never_slower(module: wl.Module, field: str) -> None:
    run = copy_of(module, 1 << 18)
    bigger = replace(run.machine, **{field: 2 * getattr(run.machine, field)})
    before, after = (
        least_time(run.kernel.program, run.trace, machine, run.occupancy, run.input_bytes)
        for machine in (run.machine, bigger)
    )
    faster = {bound.name: bound.microseconds for bound in after.bounds}
    assert all(faster[bound.name] <= bound.microseconds for bound in before.bounds)
    assert any(faster[bound.name] < bound.microseconds for bound in before.bounds)


def test_an_assumption_never_makes_the_limit(module: wl.Module) -> None:
    floor = copy_of(module, 1 << 20).floor()
    assert floor.bounds[0].name == "dram"
    assert floor.limit is not None
    assert not floor.limit.assumes
    assert floor.microseconds == floor.limit.microseconds < floor.bounds[0].microseconds


def test_the_same_launch_has_the_same_floor(module: wl.Module) -> None:
    assert copy_of(module, 5000).floor() == copy_of(module, 5000).floor()


def test_other_gpus_of_the_architecture_can_be_asked_for(module: wl.Module) -> None:
    run = copy_of(module, 1 << 20)
    h100, h200 = (bound_of(run.floor(gpu), "dram").microseconds for gpu in ("h100", "h200"))
    assert h100 > h200


def test_code_for_another_architecture_is_refused(module: wl.Module) -> None:
    run = copy_of(module, 128)
    with pytest.raises(UsageError, match=r"the machine code is for sm_90, NVIDIA A100.* is sm_80: compile with"):
        run.floor("a100")
    with pytest.raises(UsageError, match="no GPU 'k80' is known"):
        run.floor("k80")


def test_a_sample_is_no_more_than_a_sample(module: wl.Module) -> None:
    data, out = np.zeros(1 << 16, np.float32), np.zeros(1 << 16, np.float32)
    run = module["copy"].launch(512, 128, data, out, np.int32(1 << 16), gpu="h200", sample=8)
    assert run.floor().provenance == "sampled"


def test_every_report_tells_it(module: wl.Module) -> None:
    run = copy_of(module, 1 << 20)
    document = json.loads(run.json())
    jsonschema.validate(document, schema())
    assert document["floor"]["limit"] == "issue"
    assert document["floor"]["bounds"][0]["name"] == "dram"
    assert document["prediction"] is None
    assert "Lower Bound per Unit" in page([run.subject])


def test_a_gpu_of_another_architecture_gets_none(module: wl.Module) -> None:
    data = np.zeros(128, np.float32)
    run = module["copy"].launch(1, 128, data, data.copy(), np.int32(128), gpu="a100")
    assert json.loads(run.json())["floor"] is None
