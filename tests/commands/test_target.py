"""From FILE and flags to kernels: which ones, how started, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.source_files import source_file
from warplens.commands.target import Flags, Target, targets
from warplens.core.launch import Launch
from warplens.errors import UsageError

ROOT = Path(__file__).parents[2]
COPY = str(ROOT / "examples" / "copy.cu")
CUBIN = str(ROOT / "tests" / "data" / "kernels.sm_90.cubin")


def one(file: str, **flags: object) -> Target:
    (target,) = targets(file, Flags(gpu="h200", **flags))  # type: ignore[arg-type]
    return target


def written(text: str) -> str:
    return str(source_file(text))


def test_without_a_kernel_all_tables_of_the_block() -> None:
    assert [target.title for target in targets(COPY)] == ["ccopy", "nccopy"]


def test_the_launch_stands_in_the_block() -> None:
    assert one(COPY, kernel="nccopy").launch == Launch((131072, 1, 1), (128, 1, 1))


def test_set_replaces_a_name_and_what_follows_from_it() -> None:
    target = one(COPY, kernel="nccopy", settings=("n=1024",))
    assert target.launch.grid == (8, 1, 1)
    assert [a.bytes for a in target.arguments] == [4096, 4096, 0]


def test_flags_replace_single_entries() -> None:
    target = one(COPY, kernel="nccopy", settings=("n=1024",), grid="n / 64", block="8,8", shared="n * 2")
    assert target.launch == Launch((16, 1, 1), (8, 8, 1), 2048)


def test_a_cubin_is_started_by_flags_and_names_from_set() -> None:
    target = one(
        CUBIN, kernel="ccopy", settings=("n=256",), grid="n / 128", block="128",
        args=("in=random:f32[n]", "zeros:f32[n]", "n"),
    )  # fmt: skip
    assert target.labels == ("in", "", "n")
    run = target.run()
    assert run["smsp__sass_inst_executed_op_global_ld.sum"] == 256 // 32
    assert run.file == CUBIN


def test_all_kernels_of_a_cubin_can_be_looked_at_without_a_launch() -> None:
    found = targets(CUBIN)
    assert len(found) == 14
    assert all(target.kernel.program.instructions for target in found)


def test_cpp_names_are_found_as_they_are_written() -> None:
    file = written("__global__ void plain(int* x) { *x = 1; }\n"
                             "namespace a { __global__ void inner(int* x) { *x = 2; } }\n"
                             "template <class T> __global__ void typed(T* x) { *x = 3; }\n")  # fmt: skip
    for name in ("plain", "a::inner", "typed<int>"):
        target = one(file, kernel=name, grid="1", block="32", args=("zeros:i32[1]",))
        assert target.run().trace.executed.sum() > 0
        assert target.title == name


def test_the_architecture_is_the_gpus_unless_said() -> None:
    file = written('extern "C" __global__ void k() {}')
    assert targets(file, Flags(gpu="a100"))[0].kernel.arch == "sm_80"
    assert targets(file, Flags(gpu="a100", arch="sm_75"))[0].kernel.arch == "sm_75"
    assert targets(CUBIN, Flags(gpu="a100", kernel="ccopy"))[0].kernel.arch == "sm_90"


def test_options_reach_the_compiler() -> None:
    file = written('extern "C" __global__ void k(int* x) { *x = SIZE; }')
    assert one(file, options=("-DSIZE=3",)).kernel.instructions > 0


def test_arrays_are_shared_between_kernels_but_never_written() -> None:
    first, second = targets(COPY, Flags(settings=("n=1024",)))
    kept = first.values()
    assert second.values()[0] is kept[0]
    before = [np.array(value) for value in kept]
    second.run()
    first.run()
    assert all(np.array_equal(a, b) for a, b in zip(kept, before, strict=True))


def test_arguments_follow_the_names_that_each_rung_sets() -> None:
    file = ROOT / "src" / "warplens" / "labs" / "coalescing" / "3_stride.cu"
    rungs = targets(str(file), Flags(settings=("m=64", "n=64")))[:2]
    assert [rung.values()[3] for rung in rungs] == [1, 2]
    assert rungs[1].values()[0].size == 128


def test_the_footprint_needs_no_grid() -> None:
    target = one(CUBIN, kernel="matmul_tiled", block="16,16", shared="64")
    assert target.footprint[1:4] == (256, 2 * 16 * 16 * 4, 64)


REFUSED = [
    (COPY, {"kernel": "copy"}, "no kernel 'copy' in .*; did you mean ccopy. There are: ccopy, nccopy"),
    (CUBIN, {"kernel": "copy"}, "no kernel 'copy' .*; did you mean ccopy. There are: ccopy, nccopy, add1"),
    ("gone.cu", {}, "no such file: gone.cu"),
    ("gone.cubin", {}, "no such file: gone.cubin"),
    (str(ROOT / "tests"), {}, "is a directory; give a .cu file, a .ptx file or a cubin"),
    (CUBIN, {"arch": "sm_80"}, "holds code for sm_90"),
    (CUBIN, {"options": ("-O1",)}, "is compiled already"),
    (COPY, {"arch": "sm_70"}, "unknown architecture 'sm_70'; known are sm_75"),
    (COPY, {"settings": ("m=1",)}, "the launch block has no name 'm'; it has n"),
    (COPY, {"settings": ("n",)}, "--set: expected NAME=VALUE such as n=1024, got 'n'"),
]


@pytest.mark.parametrize(("file", "flags", "says"), REFUSED)
def test_refuses_with_what_is_possible(file: str, flags: dict[str, object], says: str) -> None:
    with pytest.raises(Exception, match=says) as caught:
        targets(file, Flags(**flags))  # type: ignore[arg-type]
    assert caught.value.exit_code == 2  # type: ignore[attr-defined]


LAUNCHES = [
    ({"grid": None}, "give --grid; ccopy takes 3 arguments \\(of 8, 8 and 4 bytes\\)"),
    ({"grid": None, "block": None}, "give --grid and --block"),
    ({"grid": "0"}, "--grid: '0' has the size 0"),
    ({"grid": "1,2,3,4"}, "--grid: '1,2,3,4' has 4 sizes"),
    ({"grid": "n"}, "--grid: no name 'n'"),
    ({"grid": "1,65536"}, "y = 65536; NVIDIA H200 SXM takes 1 to 65535"),
    ({"block": "1025"}, "takes 1 to 1024"),
    ({"block": "33,32"}, "is 1056 threads"),
    ({"shared": "-1"}, "--shared: '-1' is -1"),
    ({"shared": "300000"}, "up to 232448 dynamic are possible"),
    ({"args": ()}, "ccopy takes 3 arguments .*, and none is given"),
    ({"args": ("1",)}, "ccopy takes 3 arguments .*, and 1 is given"),
    ({"args": ("zeros:f32[64]", "zeros:f32[64]", "zeros:f32[64]")}, "argument 3: .* is a pointer of 8 bytes"),
    ({"args": ("zeros:f32[64]", "zeros:f32[64]", "1 << 40")}, "argument 3 .* does not fit"),
    ({"args": ("zeros:f33[64]", "zeros:f32[64]", "1")}, "argument 1, 'zeros:f33\\[64\\]'"),
]


@pytest.mark.parametrize(("flags", "says"), LAUNCHES)
def test_refuses_a_launch_that_cannot_be(flags: dict[str, object], says: str) -> None:
    whole = {"grid": "2", "block": "32", "args": ("zeros:f32[64]", "zeros:f32[64]", "64")}
    with pytest.raises(UsageError, match=says):
        one(CUBIN, kernel="ccopy", **(whole | flags)).run()


VARIABLES = """
// /// warplens
// n = 4
// [k]
// grid = 1
// block = "n"
// args = ["zeros f32[n]"]
// variables = { table = "arange f32[n]", "ns::factor" = 3 }
// [all]
// grid = 2
// block = 32
// args = ["zeros i32[1]"]
// cooperative = true
// ///
#include <cooperative_groups.h>
__constant__ float table[4];
namespace ns { __device__ int factor = 1; }
extern "C" __global__ void k(float *o) { o[threadIdx.x] = table[threadIdx.x] * ns::factor; ns::factor = 100; }
extern "C" __global__ void all(int *o) { cooperative_groups::this_grid().sync(); o[0] = ns::factor; }
"""


def seen(target: Target) -> list[float]:
    """What the kernel leaves in its argument."""
    target.set_variables()
    out = np.zeros(4, np.float32)
    target.kernel.launch(1, 4, out)
    return out.tolist()


def test_variables_are_set_by_the_block_and_by_set() -> None:
    file = written(VARIABLES)
    target = one(file, kernel="k")
    assert seen(target) == seen(target) == [0, 3, 6, 9]  # whatever the kernel did to ns::factor
    assert seen(one(file, kernel="k", settings=("table=full(2):f32[2]", "ns::factor=n"))) == [8, 8, 0, 0]


def test_variables_of_a_cubin(tmp_path: Path) -> None:
    path = tmp_path / "k.cubin"
    path.write_bytes(one(written(VARIABLES), kernel="k").kernel.cubin.data)
    assert seen(one(str(path), kernel="k", settings=("table=ones:f32[4]",))) == [1, 1, 1, 1]


def test_a_number_that_a_constant_is_set_to_may_stand_in_sizes() -> None:
    source = """__constant__ int channels = 3;
    extern "C" __global__ void k(float* x) { x[blockIdx.x] = channels; }"""
    asked = Flags("k", "channels * 2", "1", ("zeros f32[channels * 2]",), settings=("channels=5",))
    (target,) = targets(written(source), asked)
    (out,) = target.fresh_values()
    target.run_with([out])
    assert out.tolist() == [5] * 10


def test_cooperative_by_the_block_or_by_flag() -> None:
    file = written(VARIABLES)
    assert one(file, kernel="all").run().launch.cooperative
    assert not one(file, kernel="k").launch.cooperative
    assert one(file, kernel="k", cooperative=True).launch.cooperative


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("table=f32[4]", "table: does not say what the array holds"),
        ("table=zeros:f32[5]", "table has 16 bytes, and 20 are given"),
        ("table=2", "table: it has 16 bytes: set it to an array"),
        ("table=null", "table: a variable is set to an array or a number, not to null"),
        ("tabel=2", "no name 'tabel'"),
    ],
)
def test_refuses_what_a_variable_cannot_hold(setting: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        one(written(VARIABLES), kernel="k", settings=(setting,)).run()
