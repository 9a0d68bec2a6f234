"""The launch block in a .cu file, and sizes from text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from warplens.core.launch import Launch
from warplens.errors import UsageError
from warplens.launchspec.launch_block import LaunchFile, parse_dim, read_launch_block

SOURCE = """\
// A comment of the file's own.
// /// warplens
// arch = "sm_90"
// n = 4096
// half = "n / 2"
//
// [copy]          # a comment
// grid = "half / 128"
// block = 128
// args = ["in = random f32[n]", "zeros f32[half]", "n", 2.5, 7]
//
// ["tile<float, 16>"]
// grid = ["ceil(n/1000)", 3]
// block = "16, 16"
// shared = "n * 4"
// options = ["--use_fast_math"]
// arch = "sm_80"
//
// [small]
// name = "copy"
// grid = 1
// ///
__global__ void copy() {}
"""


def read(source: str) -> LaunchFile:
    block = read_launch_block(source, "k/copy.cu")
    assert block is not None
    return block


def block_of(*lines: str) -> str:
    return "\n".join(["int x;", "// /// warplens", *(f"// {line}" for line in lines), "// ///", ""])


def test_launches() -> None:
    block = read(SOURCE)
    names = block.values()
    assert names == {"n": 4096, "half": 2048}
    assert list(block.kernels) == ["copy", "tile<float, 16>", "small"]
    copy, tile, small = block.kernels.values()
    assert copy.launch(names) == Launch((16, 1, 1), (128, 1, 1), 0)
    assert tile.launch(names) == Launch((5, 3, 1), (16, 16, 1), 16384)
    assert (copy.name, tile.name, small.name) == ("copy", "tile<float, 16>", "copy")
    assert (copy.arch, tile.arch) == ("sm_90", "sm_80")
    assert (copy.options, tile.options) == ((), ("--use_fast_math",))
    assert (copy.line, tile.line, small.line) == (7, 12, 19)


def test_arguments() -> None:
    block = read(SOURCE)
    arguments = block.kernels["copy"].arguments(block.values())
    assert [argument.label for argument in arguments] == ["in", None, None, None, None]
    made = [argument.make() for argument in arguments]
    assert isinstance(made[0], np.ndarray)
    assert made[0].shape == (4096,)
    assert made[2:] == [4096, 2.5, 7]


def test_paths_begin_at_the_source_s_folder(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(3))
    block = read_launch_block(block_of("[k]", 'args = ["file x.npy"]'), str(tmp_path / "k.cu"))
    assert block is not None
    np.testing.assert_array_equal(block.kernels["k"].arguments({})[0].make(), [0, 1, 2])


def test_settings_replace_names_and_those_below_follow() -> None:
    block = read(SOURCE)
    names = block.values({"n": 1024})
    assert names == {"n": 1024, "half": 512}
    assert block.kernels["copy"].launch(names).grid == (4, 1, 1)
    assert block.values({"half": 128}) == {"n": 4096, "half": 128}
    with pytest.raises(UsageError, match=r"k/copy.cu:2: the launch block has no name 'N'; it has n, half"):
        block.values({"N": 1})


def test_flags_replace_single_entries() -> None:
    entry = replace(read(SOURCE).kernels["copy"], grid=parse_dim("7"))
    assert entry.launch({"half": 1}) == Launch((7, 1, 1), (128, 1, 1), 0)


def test_no_block() -> None:
    assert read_launch_block("// /// other\n// ///\n__global__ void k() {}\n", "k.cu") is None
    assert read_launch_block("", "k.cu") is None


def test_spellings_of_the_frame() -> None:
    assert read("// /// warplens\r\n// n = 1\r\n//\r\n// ///\r\n").values() == {"n": 1}
    assert read("  ///// warplens\n  //n = 1\n  /////").values() == {"n": 1}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("// /// warplens\n// n = 1\nint x;\n// ///\n", "k/copy.cu:1: the launch block is not closed"),
        ("\n// /// warplens", "k/copy.cu:2: the launch block is not closed"),
        (block_of("n = 1") + block_of("n = 1"), "k/copy.cu:6: a second launch block; .*line 2"),
        (block_of("n = 1", "m = = 2"), "k/copy.cu:4: the launch block is not TOML: Invalid value"),
        (block_of("n = 1", "n = 2"), "k/copy.cu:4: the launch block is not TOML"),
        (block_of("n = [1"), "k/copy.cu:3: the launch block is not TOML"),
        (block_of("n = 1", "my-size = 2"), "k/copy.cu:4: 'my-size' cannot be a name"),
        (block_of("n = true"), "k/copy.cu:3: n is a truth value; possible are"),
        (block_of("n = 1979-05-27"), "k/copy.cu:3: n is a date"),
        (block_of("block = 128"), "k/copy.cu:3: 'block' belongs into a kernel's table"),
        (
            block_of("[k]", "grid = 1", "", "[l]", "grids = 1"),
            r"k/copy.cu:7: \[l\] has the unknown key 'grids'; known are grid, block, args, shared",
        ),
        (block_of("[k]", "grid = 1.5"), r"k/copy.cu:4: \[k\] grid is a fraction; possible is a whole number"),
        (block_of("[k]", "grid = [1, true]"), r"k/copy.cu:4: \[k\] grid is a truth value"),
        (block_of("[k]", "grid = []"), r"k/copy.cu:4: \[k\] grid is a list"),
        (block_of("[k]", "shared = 1.5"), r"k/copy.cu:4: \[k\] shared is a fraction"),
        (block_of("[k]", 'args = "n"'), r"k/copy.cu:4: \[k\] args must be a list"),
        (block_of("[k]", "options = [1]"), r"k/copy.cu:4: \[k\] options must be a list"),
        (block_of("[k]", "arch = 90"), r"k/copy.cu:4: \[k\] arch is a number; possible is a text"),
    ],
)
def test_refused(source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(source)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["block = 1"], r"k/copy.cu:3: \[k\] grid is missing: add grid = 128 to the table, or give --grid"),
        (["grid = 0", "block = 1"], r"k/copy.cu:3: \[k\] grid: '0' has the size 0"),
        (['grid = "k"', "block = 1"], r"k/copy.cu:3: \[k\] grid: no name 'k'; known names: n"),
        (["grid = 1", "block = [1, 1, 1, 1]"], r"\[k\] block: .* has 4 sizes; possible are 1 to 3"),
        (["grid = 1", "block = 1", "shared = -4"], r"\[k\] shared is -4; possible are bytes from 0"),
        (["grid = 1", "block = 1", 'shared = "n / 3"'], r"\[k\] shared: 'n / 3' is 1000/3, which is not"),
        (["grid = 1", "block = 1", 'args = ["n", "oops f32[n]"]'], r"k/copy.cu:3: \[k\] argument 2, 'oops"),
    ],
)
def test_refused_when_worked_out(lines: list[str], message: str) -> None:
    entry = read(block_of("[k]", *lines)).kernels["k"]
    with pytest.raises(UsageError, match=message):
        entry.launch({"n": 1000}), entry.arguments({"n": 1000})


def test_bad_name_says_where() -> None:
    with pytest.raises(UsageError, match=r"k/copy.cu:2: m: no name 'n'; known names: none"):
        read(block_of('m = "n"', "n = 1")).values()


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8192", (8192, 1, 1)),
        ("64,32", (64, 32, 1)),
        (" 64 , 32 , 2 ", (64, 32, 2)),
        ("64x32x2", (64, 32, 2)),
        ("64 x 32", (64, 32, 1)),
        ("(64, 32)", (64, 32, 1)),
        ("n / 10, ceil(n/300)", (100, 4, 1)),
        ("(n + 1) // 7", (143, 1, 1)),
    ],
)
def test_dim(text: str, size: tuple[int, int, int]) -> None:
    assert parse_dim(text, {"n": 1000}) == size


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("0", "'0' has the size 0; every size must be at least 1"),
        ("64,-1", "has the size -1"),
        ("1,2,3,4", "has 4 sizes; possible are 1 to 3"),
        ("1x2x3x4", "has 4 sizes"),
        ("", "missing"),
        ("()", "missing"),
        ("1.5", "a whole number is wanted"),
        ("64;64", "not an expression"),
    ],
)
def test_wrong_dim(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        parse_dim(text)


def test_the_example_reads() -> None:
    path = Path(__file__).parents[2] / "examples" / "copy.cu"
    block = read_launch_block(path.read_text(), str(path))
    assert block is not None
    names = block.values({"n": 1024})
    for title in ("ccopy", "nccopy"):
        entry = block.kernels[title]
        assert entry.launch(names) == Launch((8, 1, 1), (128, 1, 1))
        source, target, count = (argument.make() for argument in entry.arguments(names))
        assert isinstance(source, np.ndarray)
        assert isinstance(target, np.ndarray)
        assert source.any()
        assert not target.any()
        assert count == 1024


VARIABLES = """\
// /// warplens
// n = 9
// [blur]
// grid = 1
// block = 32
// cooperative = true
// variables = { weights = "random f32[n]", "ns::scale" = 2.5 }
// ///
"""


def test_cooperative_and_variables() -> None:
    block = read_launch_block(VARIABLES, "k.cu")
    assert block is not None
    entry = block.kernels["blur"]
    assert entry.variables == {"weights": "random f32[n]", "ns::scale": "2.5"}
    assert entry.launch(block.values()) == Launch((1, 1, 1), (32, 1, 1), 0, cooperative=True)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("true", "1", r"k.cu:6: \[blur\] cooperative is a number; possible are true and false"),
        ("{ weights", "3 #", r"k.cu:7: \[blur\] variables must be a table such as"),
        ("2.5", "true", r"k.cu:7: \[blur\] variables must be a table such as"),
    ],
)
def test_refuses_what_is_neither(old: str, new: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_launch_block(VARIABLES.replace(old, new), "k.cu")


@pytest.mark.parametrize("place", ["n = {}", "[k]\n// grid = {}", "[k]\n// grid = [1, {}]", "[k]\n// shared = {}"])
def test_whole_numbers_that_nothing_holds_are_refused(place: str) -> None:
    block = f"// /// warplens\n// {place.format('0x' + 'f' * 100_000)}\n// ///\n"
    with pytest.raises(UsageError, match=r"^k.cu:1: the launch block has a whole number of more than 128 bits$"):
        read_launch_block(block, "k.cu")
