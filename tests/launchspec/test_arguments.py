"""Arguments from text: what they hold, and what is said when they cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from warplens.errors import UsageError
from warplens.launchspec.arguments import parse_argument, scalar
from warplens.launchspec.element_type import parse_element

NAMES = {"n": 96, "m": 4}


def array(text: str, position: int = 0, folder: Path | None = None) -> np.ndarray:
    made = parse_argument(text, NAMES, position, folder).make()
    assert isinstance(made, np.ndarray)
    assert made.flags.c_contiguous
    assert made.flags.writeable
    return made


@pytest.mark.parametrize("text", ["zeros f32[n]", "zeros:f32[n]", " zeros : f32 [ n ] ", "zeros float[n]"])
def test_colon_and_blank_are_the_same(text: str) -> None:
    made = array(text)
    assert made.dtype == np.float32
    assert made.shape == (96,)
    assert not made.any()


@pytest.mark.parametrize(
    ("word", "dtype", "lanes"),
    [
        ("i8", np.int8, 1),
        ("u8", np.uint8, 1),
        ("i16", np.int16, 1),
        ("u16", np.uint16, 1),
        ("i32", np.int32, 1),
        ("u32", np.uint32, 1),
        ("i64", np.int64, 1),
        ("u64", np.uint64, 1),
        ("f16", np.float16, 1),
        ("f64", np.float64, 1),
        ("f32x4", np.float32, 4),
        ("float4", np.float32, 4),
        ("int2", np.int32, 2),
        ("uchar3", np.uint8, 3),
        ("half2", np.float16, 2),
        ("double2", np.float64, 2),
    ],
)
def test_types(word: str, dtype: type, lanes: int) -> None:
    argument = parse_argument(f"ones {word}[n]", NAMES)
    made = argument.make()
    assert isinstance(made, np.ndarray)
    assert made.dtype == dtype
    assert made.shape == ((96,) if lanes == 1 else (96, lanes))
    assert (made == 1).all()
    assert argument.bytes == made.nbytes


def test_shapes() -> None:
    assert array("zeros u8[n * m]").shape == (384,)
    assert array("zeros u8[n, m / 2]").shape == (96, 2)
    assert array("zeros u8[n][min(n, m)]").shape == (96, 4)
    assert array("zeros u8[0]").size == 0


def test_random_floats_fill_their_range() -> None:
    made = array("random f32[n * 1000]")
    assert -0.5 <= made.min() < -0.499
    assert 0.499 < made.max() < 0.5
    assert abs(made.mean()) < 0.01
    assert len(np.unique(made)) > 90_000
    double = array("random(2, 3) f64[n * 1000]")
    assert 2 <= double.min() < 2.001
    assert 2.999 < double.max() < 3


@pytest.mark.parametrize("word", ["f16", "bf16", "f32"])
def test_random_never_reaches_the_upper_end(word: str) -> None:
    made = array(f"random(1, 1.01) {word}[n * 1000]")  # so few values there that rounding would reach the end
    values = (made.astype(np.uint32) << 16).view(np.float32) if word == "bf16" else made
    assert values.min() >= 1
    assert values.max() < (1.01 if word != "f16" else float(np.float16(1.01)))


def test_random_integers_fill_their_range() -> None:
    assert set(np.unique(array("random i32[n * 1000]"))) == set(range(1000))
    assert set(np.unique(array("random i8[n * 1000]"))) == set(range(128))
    assert set(np.unique(array("random(-2, 3) i64[n]"))) == {-2, -1, 0, 1, 2}
    assert set(np.unique(array("random(0, 2**64) u64[n]") >> np.uint64(63))) == {0, 1}
    np.testing.assert_array_equal(array("random(0, 9) i32[n]"), array("random i32[n](0, 9)"))


def test_random_is_the_same_each_time_and_differs_by_position() -> None:
    first, second = array("random f32[n]", 0), array("random f32[n]", 1)
    argument = parse_argument("random f32[n]", NAMES)
    np.testing.assert_array_equal(argument.make(), first)
    np.testing.assert_array_equal(argument.make(), first)
    assert (first != second).any()
    np.testing.assert_array_equal(array("random(seed=7) f32[n]", 0), array("random(seed=7) f32[n]", 5))
    assert (array("random(seed=7) f32[n]") != array("random(seed=8) f32[n]")).any()


def test_random_follows_numpy_s_pcg64() -> None:
    numpy_s_own = np.random.Generator(np.random.PCG64(7)).random(96, dtype=np.float32)
    np.testing.assert_array_equal(array("random(0, 1, seed=7) f32[n]"), numpy_s_own)


def test_other_kinds() -> None:
    np.testing.assert_array_equal(array("arange i32[n]"), np.arange(96))
    np.testing.assert_array_equal(array("arange(10, -2) i16[4]"), [10, 8, 6, 4])
    np.testing.assert_array_equal(array("arange(0, 0.5) f32[3]"), [0, 0.5, 1])
    np.testing.assert_array_equal(array("full(-3) i8[2]"), [-3, -3])
    np.testing.assert_array_equal(array("full f16[2](2.5)"), [2.5, 2.5])
    shuffled = array("permutation u16[n]")
    assert sorted(shuffled) == list(range(96))
    assert list(shuffled) != list(range(96))
    assert np.isnan(array("empty f32[n]")).all()
    assert (array("empty int4[n]") == -1).all()
    # 1.0 + 3/512 lies between the bfloat16 1 + 0/128 and 1 + 1/128, nearer to the upper one
    assert list(array("full(1.005859375) bf16[1]")) == [0x3F81]
    assert list(array("full(1.00390625) bf16[1]")) == [0x3F80]  # a tie goes to the even one


def test_files(tmp_path: Path) -> None:
    data = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(tmp_path / "a.npy", data)
    data.tofile(tmp_path / "my data.bin")
    np.testing.assert_array_equal(array("file a.npy", folder=tmp_path), data)
    np.testing.assert_array_equal(array(f"file:{tmp_path}/a.npy"), data)
    np.testing.assert_array_equal(array("file:a.npy:f32x4[2]", folder=tmp_path), data)
    np.testing.assert_array_equal(array("file my data.bin f32[2, m]", folder=tmp_path), data)


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(10))
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "archive.npy").write_bytes(b"PK\3\4 and no more")
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776,), }\n"
    (tmp_path / "huge.npy").write_bytes(b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head)
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    np.save(tmp_path / "big.npy", np.arange(3, dtype=">i4"))
    np.save(tmp_path / "good.npy", np.arange(3, dtype=np.int32))
    for text, reason in [
        ("file none.npy", "there is no file"),
        ("file a.bin", "needs a type and a size"),
        ("file a.bin f32[3]", "holds 10 bytes, and the array takes 12"),
        ("file text.npy", "cannot be read as a .npy file"),
        ("file empty.npy", "cannot be read as a .npy file"),
        ("file archive.npy", "cannot be read as a .npy file"),
        ("file huge.npy", "cannot be read as a .npy file"),
        ("file objects.npy", "cannot be read as a .npy file"),
        ("file big.npy", "byte order"),
        ("file good.npy f32[3]", "holds int32 of shape"),
        ("file good.npy i32[4]", r"of shape \(3,\), and the argument says"),
    ]:
        with pytest.raises(UsageError, match=reason):
            array(text, folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "size", "value", "dtype"),
    [
        ("n", 4, 96, np.int32),
        ("n / 2", 8, 48, np.int64),
        ("3.5f", 4, 3.5, np.float32),
        ("3.5", 8, 3.5, np.float64),
        ("1.5", 2, 1.5, np.float16),
        ("-1", 1, -1, np.int8),
        ("255", 1, 255, np.uint8),
        ("0xffffffff", 4, 2**32 - 1, np.uint32),
        ("2**64 - 1", 8, 2**64 - 1, np.uint64),
        ("n", None, 96, np.int32),
        ("2**40", None, 2**40, np.int64),
        ("0.5", None, 0.5, np.float32),
    ],
)
def test_scalars(text: str, size: int | None, value: float, dtype: type) -> None:
    made = parse_argument(text, NAMES).make(size)
    assert made == value
    assert type(made) is dtype


def test_scalars_that_do_not_fit() -> None:
    for value, size, reason in [
        (256, 1, "256 does not fit in a parameter of 1 bytes: possible are -128 to 255"),
        (2**32, 4, "possible are -2147483648 to 4294967295"),
        (1.5, 1, "only whole numbers"),
        (1e39, 4, "too large for a float of 4 bytes"),
        (3, 12, "a parameter of 12 bytes is a structure"),
    ]:
        with pytest.raises(UsageError, match=reason):
            scalar(value, size)


def test_pointers_fill_eight_bytes() -> None:
    assert parse_argument("null", NAMES).make(8) is None
    for text in ("null", "zeros f32[n]"):
        with pytest.raises(UsageError, match="a pointer of 8 bytes, and the kernel's parameter here has 4"):
            parse_argument(text, NAMES).make(4)


def test_labels() -> None:
    argument = parse_argument("in=random:f32[n]", NAMES)
    assert (argument.label, argument.text) == ("in", "random:f32[n]")
    assert parse_argument("count = n", NAMES).label == "count"
    assert parse_argument("random(seed=3) f32[n]", NAMES).label is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("randon f32[n]", "no kind 'randon'; possible are arrays .*random, zeros"),
        ("random f33[n]", "no type 'f33'; possible are i8, u8"),
        ("random f32x99[n]", "no type 'f32x99'"),
        ("random f32[k]", "no name 'k'; known names: n, m"),
        ("random f32[]", "missing"),
        ("random f32[-n]", "-96; possible are whole numbers from 0"),
        ("random f32[n/5]", "not a whole number: write ceil"),
        ("random f32[2.5]", "a whole number is wanted"),
        ("zeros f64[2**33 + 1]", "takes 64 GiB; the largest array possible is 64 GiB"),
        ("zeros u8[2**100]", "largest array possible"),
        ("f32[n]", r"write 'random f32\[n\]'"),
        ("random", "a type and a size"),
        ("full(3)", "a type and a size"),
        ("file", "a type and a size, or a path"),
        ("full f32[n]", r"wrong parameters for full: its parameters are \(value\)"),
        ("zeros(1) f32[n]", "wrong parameters for zeros: it takes none"),
        ("random(sed=1) f32[n]", r"its parameters are \(low, high, seed\)"),
        ("random(1) f32[n]", "both ends of its range or none"),
        ("random(1, 1) f32[n]", "empty range"),
        ("random(5, 2) i32[n]", "empty range"),
        ("random(0, 300) u8[n]", "u8 holds whole numbers from 0 to 255, not 299"),
        ("random(seed=-1) f32[n]", "a seed is a whole number from 0"),
        ("random(seed=0.5) f32[n]", "a seed is a whole number from 0"),
        ("random(0, 1) f32[n](0, 1)", "shape given twice"),
        ("random(-1e38, 3e38) f32[n]", "too large for f32"),
        ("full(1.5) i32[n]", "i32 holds whole numbers"),
        ("full(1e6) f16[n]", "too large for f16"),
        ("arange i8[n * 2]", "i8 holds whole numbers from -128 to 127, not 191"),
        ("arange(0, -1) u32[n]", "u32 holds whole numbers"),
        ("permutation f32[n]", "whole numbers, not of f32"),
        ("permutation u8[257]", "not 256"),
        ("zeros f32[0, 2**100]", "the largest array possible is 64 GiB"),
        ("random f32[2**62, 0]", "the largest array possible is 64 GiB"),
        (f"zeros f32[{', '.join(['1'] * 40)}]", "an array of 40 sizes; at most 32"),
        ("file ~nobody.there/x.npy", "there is no file"),
        (f"file {'a' * 5000}.npy", "there is no file"),
        ("", "missing; possible are"),
        ("what ever", "possible are"),
        ("in=", "missing"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason) as caught:
        parse_argument(text, NAMES, position=2)
    assert str(caught.value).startswith(f"argument 3, '{text}': ")


def test_nothing_large_is_made_before_make() -> None:
    assert parse_argument("random f64[2**33]").bytes == 64 << 30


@pytest.mark.parametrize(("name", "count"), [("int", 1), ("float", 1), ("f32", 1), ("float4", 4), ("i32x2", 2)])
def test_names_of_types_tell_how_many_numbers_an_element_has(name: str, count: int) -> None:
    assert parse_element(name).lanes == count
