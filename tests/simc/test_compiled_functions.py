"""Compiled functions give what the same Python gives."""

import ctypes
from typing import NamedTuple

import numpy as np
import pytest

from warplens.simc import Record, bits_float, compiled, float_bits, unlikely
from warplens.simc.function import llvm_module
from warplens.simc.typed_values import CannotCompileError

LIMIT = 7


class Pair(NamedTuple):
    rows: np.ndarray
    sums: np.ndarray


@compiled
def divided(a, b):
    return a // b, a % b, a // 8, a % 8, a / b


@pytest.mark.parametrize(("a", "b"), [(7, 3), (-7, 3), (7, -3), (-7, -3), (6, 3), (-8, 8), (0, 5)])
def test_division_rounds_down(a, b):
    assert divided(a, b) == divided.python(a, b)


@compiled
def mixed(line):
    h = np.uint64(line) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    return float(h >> np.uint64(40)) / 16777216.0


def test_unsigned_numbers_wrap_and_shift_in_zeros():
    with np.errstate(over="ignore"):
        assert [mixed(n) for n in range(50)] == [mixed.python(n) for n in range(50)]


@compiled
def widened(n):
    """best is an int at first, and a float in the end."""
    best, at = 0, -1
    for i in range(n):
        x = np.log(i + 1.0) if i % 3 == 0 else i
        if x > best:
            best, at = x * 0.5, i
        if i > LIMIT:
            break
    return best, at, (best > 1 and at >= 0) or n == 0, not at


@pytest.mark.parametrize("n", [0, 1, 5, 20])
def test_a_name_holds_the_widest_number_it_is_given(n):
    assert widened(n) == widened.python(n)


@compiled
def first_above(numbers, least):
    for i in range(numbers.size):
        if numbers[i] <= least:
            continue
        return i, True
    return -1, False


@compiled
def summed(pair, words, scale):
    pair.rows[1, :] = 3
    found = 0
    for axis, by in ((0, scale), (1, 2.0)):
        i = 0
        while i < pair.rows.shape[1]:
            pair.sums[axis] += pair.rows[axis, i] * by
            i += 1
    for n in range(1, words.size, 2):
        found |= words[n] & np.uint32(0xF0)
    words[0] = np.uint8(found + 300)
    place, there = first_above(words, 100)
    return max(found, 5), min(0.5, scale), place if there else -1, found in (0x70, 0x50)


def arguments():
    words = np.array([3, 0x12, 200, 0x76, 1 << 31], np.uint32)
    return Pair(np.arange(8.0).reshape(2, 4), np.zeros(2)), words, 0.25


def test_arrays_and_named_tuples_go_in_and_are_written_to():
    one, other = arguments(), arguments()
    assert summed(*one) == summed.python(*other)
    for ours, theirs in ((one[0].rows, other[0].rows), (one[0].sums, other[0].sums), (one[1], other[1])):
        assert np.array_equal(ours, theirs)


@compiled
def sorted_list(numbers):
    return [numbers[0]]


@compiled
def cleared(numbers):
    numbers[1:3] = 0.0
    return 0


def test_what_is_not_known_is_told_with_its_place():
    with pytest.raises(CannotCompileError, match=r"sorted_list, line \d+: \[numbers\[0\]\]"):
        sorted_list(np.zeros(3))
    with pytest.raises(CannotCompileError, match=r"cleared, line \d+: 1:3: a part of an axis"):
        cleared(np.zeros(5))


def test_an_array_in_another_order_is_refused():
    with pytest.raises(TypeError, match="C order"):
        first_above(np.zeros((4, 4))[:, 0], 1)


class Port(Record):
    free: float
    busy: float


class Ports(NamedTuple):
    read: Port
    write: Port
    width: float


@compiled
def sent(ports, size, at):
    """A request goes out at the one port and its reply comes back at the other."""
    ports.read.free = max(ports.read.free, at) + size / ports.width
    ports.write.busy += int(size)
    return ports.read.free


def test_fields_of_records_are_read_and_written():
    for run in (sent, sent.python):
        ports = Ports(Port(), Port([3.0, 4.0]), 32.0)
        assert (run(ports, 64.0, 5), run(ports, 64.0, 5)) == (7.0, 9.0)
        assert ports.read.values.tolist() == [9.0, 0.0]
        assert ports.write.values.tolist() == [3.0, 132.0]


def test_the_mean_of_records_is_that_of_each_field():
    mean = Port.mean([Port([1.0, 2.0]), Port([3.0, 8.0])])
    assert (mean.free, mean.busy) == (2.0, 5.0)


@compiled
def misspelt(port):
    port.fre = 1.0


@compiled
def replaced(ports):
    ports.width = 1.0


def test_an_assignment_to_no_field_of_a_record_is_refused():
    with pytest.raises(CannotCompileError, match=r"misspelt, line 3: a record of free, busy has no fre"):
        misspelt(Port())
    with pytest.raises(CannotCompileError, match=r"ports\.width, which is no field of a record"):
        replaced(Ports(Port(), Port(), 1.0))


@compiled
def halved(word):
    return float_bits(bits_float(word) * 0.5), bits_float(word)


@pytest.mark.parametrize("x", [0.0, -0.0, 1.0, -3.25, 1e-45, 3.4e38, np.inf, -np.inf])
def test_words_of_single_precision_floats(x):
    word = int(np.float32(x).view(np.uint32))
    half = int((np.float32(x) * np.float32(0.5)).view(np.uint32))
    assert halved(word) == halved.python(word) == (half, float(np.float32(x)))


@compiled
def single(x):
    return float_bits(x)


@pytest.mark.parametrize("x", [0.1, 1 + 2.0**-24, 1 + 3 * 2.0**-24, 1e300, -1e300, 1e-60])
def test_doubles_are_rounded_to_the_nearest_single(x):
    with np.errstate(over="ignore"):
        assert single(x) == single.python(x) == int(np.float32(x).view(np.uint32))


@compiled
def scaled(factor, numbers):
    for i in range(numbers.shape[0]):
        numbers[i] *= factor
    return numbers.shape[0]


def test_other_machine_code_can_call_it():
    numbers = np.array([1, 2, 3], np.int64)
    results = (ctypes.c_int64 * 16)()
    types = [ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
    call = ctypes.CFUNCTYPE(None, *types)(scaled.address(0, np.zeros(1, np.int64)))
    call(5, numbers.ctypes.data, numbers.size, results)
    assert (numbers.tolist(), results[0]) == ([5, 10, 15], 3)


@compiled
def counted(n):
    """Odd numbers below n."""
    odd = 0
    for i in range(n):
        if unlikely(i % 2 == 1):
            odd += 1
    return odd, unlikely(odd)


@pytest.mark.parametrize("n", [0, 9])
def test_what_is_unlikely_happens_nevertheless(n):
    assert counted(n) == (n // 2, n > 1)
    assert "llvm.expect" in str(llvm_module(counted.python, ("int",)))
