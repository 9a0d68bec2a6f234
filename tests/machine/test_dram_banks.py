"""Lesson I: the numbers of the textbook, and sums that can be done by hand."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from warplens.machine import dram_banks, machine
from warplens.machine.dram_banks import BankAccess, BankPlace
from warplens.machine.dram_channels import Channels

textbook = machine("textbook").channels
assert textbook is not None
CHANNELS = textbook
FLOAT = 4


def test_a_channel_of_64_bits_with_two_transfers_a_clock_of_1_ghz() -> None:
    assert CHANNELS.channel_gigabytes_per_second == 16
    assert CHANNELS.gigabytes_per_second == machine("textbook").dram_gigabytes_per_second


def test_128_gigabytes_a_second_need_8_channels() -> None:
    assert dram_banks.channels_needed(128, CHANNELS) == 8
    assert dram_banks.channels_needed(129, CHANNELS) == 9


def test_one_bank_uses_a_21st_of_the_bus() -> None:
    assert dram_banks.bus_use(CHANNELS, 1) == 1 / 21
    assert f"{dram_banks.bus_use(CHANNELS, 1):.1%}" == "4.8%"
    assert f"{dram_banks.gigabytes_per_second(CHANNELS, 1):.2f}" == "0.76"


def test_two_banks_double_it_and_21_fill_the_bus() -> None:
    assert dram_banks.bus_use(CHANNELS) == dram_banks.bus_use(CHANNELS, 2) == 2 / 21
    assert dram_banks.banks_needed(CHANNELS) == 21
    assert dram_banks.bus_use(CHANNELS, 20) < 1
    assert dram_banks.bus_use(CHANNELS, 21) == dram_banks.bus_use(CHANNELS, 40) == 1


def test_an_array_lies_across_channels_and_then_banks() -> None:
    found = dram_banks.distribution(20, FLOAT, CHANNELS)
    assert found[BankPlace(0, 0)] == (0, 1, 16, 17)  # wraps at 16 elements
    assert found[BankPlace(1, 0)] == (2, 3, 18, 19)
    assert found[BankPlace(3, 0)] == (6, 7)
    assert found[BankPlace(0, 1)] == (8, 9)
    assert found[BankPlace(3, 1)] == (14, 15)


def test_a_phase_of_the_product_uses_half_of_the_channels_but_both_banks() -> None:
    loads = [0, 1, 4, 5, 8, 9, 12, 13]  # the left half of a matrix of 4 by 4
    places = {dram_banks.place(e * FLOAT, CHANNELS) for e in loads}
    assert places == {BankPlace(0, 0), BankPlace(2, 0), BankPlace(0, 1), BankPlace(2, 1)}


def test_a_timeline_of_one_bank() -> None:
    assert dram_banks.timeline([0, 0], CHANNELS) == (BankAccess(0, 0, 20, 21), BankAccess(0, 21, 41, 42))


def test_a_timeline_of_two_banks() -> None:
    one, other, again = dram_banks.timeline([0, 1, 0], CHANNELS)
    assert (one, other) == (BankAccess(0, 0, 20, 21), BankAccess(1, 0, 21, 22))  # it waits for the bus
    assert again == BankAccess(0, 21, 41, 42)


@pytest.mark.parametrize("banks", [1, 2, 5, 20, 21, 30])
def test_the_timeline_uses_the_bus_as_the_formula_says(banks: int) -> None:
    rounds = 50
    accesses = dram_banks.timeline(list(range(banks)) * rounds, CHANNELS)
    steady = accesses[-1].end - accesses[banks - 1].end  # without the first round, which fills the banks
    assert banks * (rounds - 1) / steady == pytest.approx(dram_banks.bus_use(CHANNELS, banks), rel=1e-12)


def test_nothing_overlaps_on_the_bus_or_in_a_bank() -> None:
    accesses = dram_banks.timeline([0, 1, 1, 0, 3, 1, 2, 2], CHANNELS)
    assert all(a.end <= b.transfer for a, b in pairwise(accesses))
    for bank in range(4):
        own = [a for a in accesses if a.bank == bank]
        assert all(a.end <= b.start for a, b in pairwise(own))


def test_a_row_is_spread_evenly_and_a_column_camps_on_one_channel() -> None:
    row = [FLOAT * i for i in range(64)]
    assert dram_banks.spread(row, CHANNELS).bursts == (8, 8, 8, 8)
    assert dram_banks.spread(row, CHANNELS).use == 1
    column = [FLOAT * 64 * i for i in range(64)]  # rows of 256 bytes: a multiple of all channels' bursts
    assert dram_banks.spread(column, CHANNELS).bursts == (64, 0, 0, 0)
    assert dram_banks.spread(column, CHANNELS).use == 1 / 4
    assert dram_banks.spread(column, CHANNELS).camps


def test_rows_that_are_padded_by_a_burst_do_not_camp() -> None:
    column = [(FLOAT * 64 + CHANNELS.burst_bytes) * i for i in range(64)]
    assert dram_banks.spread(column, CHANNELS).use == 1
    assert not dram_banks.spread(column, CHANNELS).camps


def test_a_hash_of_addresses_spreads_a_column() -> None:
    def hashed(address: int, channels: Channels) -> BankPlace:
        burst = address // channels.burst_bytes
        return BankPlace((burst ^ burst >> 5 ^ burst >> 7) % channels.channel_count, 0)

    column = [FLOAT * 64 * i for i in range(64)]
    assert not dram_banks.spread(column, CHANNELS, hashed).camps


def test_one_access_camps_nowhere() -> None:
    many = replace(CHANNELS, channel_count=64)
    assert not dram_banks.spread([0], many).camps
    assert not dram_banks.spread([], many).camps
