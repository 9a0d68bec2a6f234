"""Tensor maps against those that the driver of an H200 made, and refused."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from warplens.core.tensor_map import Im2col, Interleave, Swizzle, TensorMap, TensorType, decode
from warplens.errors import UsageError

MEASURED = Path(__file__).parents[2] / "measurements" / "h200" / "tensor_maps.csv"
NO_SUCH = ValueError  # of an enumeration


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split()))


def encoded(row: dict[str, str]) -> bytes:
    """b"" for what is refused."""
    sizes = numbers(row["sizes"])
    try:
        im2col = None
        if row["channels"]:
            lower, upper = (numbers(row[name])[: max(len(sizes) - 2, 0)] for name in ("lower", "upper"))
            im2col = Im2col(lower, upper, int(row["channels"]), int(row["pixels"]))
        if int(row["promotion"]) > 3 or int(row["fill"]) > 1:
            raise NO_SUCH
        made = TensorMap(
            int(row["address"], 16), TensorType(int(row["type"])), sizes, numbers(row["strides"]), numbers(row["box"]),
            numbers(row["steps"]), Interleave(int(row["interleave"])), Swizzle(int(row["swizzle"])),
            bool(int(row["fill"])), int(row["promotion"]), im2col,
        )  # fmt: skip
        made.check()
    except (NO_SUCH, UsageError):
        return b""
    return made.encode()


def test_every_measured_map() -> None:
    """Refused where the driver refuses, else the same 128 bytes."""
    rows = list(csv.DictReader(MEASURED.read_text().splitlines()))
    assert sum(row["status"] == "0" for row in rows) > 400
    assert sum(row["status"] != "0" for row in rows) > 300
    for row in rows:
        want = bytes.fromhex(row["map"].ljust(256, "0")) if row["map"] else b""
        assert encoded(row) == want, row
        if want and not row["channels"]:
            assert decode(want).encode() == want, row


def test_bytes_that_are_no_map_of_tiles_are_refused() -> None:
    with pytest.raises(UsageError, match="0x1 stands for no map of tiles"):
        decode(bytes(8) + b"\1" + bytes(119))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"box": (3, 4)}, "the box is 12 bytes wide, not a multiple of 16"),
        ({"box": (64, 4), "swizzle": Swizzle.BYTES_128}, "the box is 256 bytes wide, more than the 128 of its swizzle"),
        ({"strides": (1004,)}, "strides 1004 bytes: not multiples of 16"),
        ({"address": 8}, "the address 0x8 is not a multiple of 16"),
        ({"steps": (1, 9)}, "element strides 1, 9; possible are 1 to 8"),
        ({"box": (256, 256)}, "the box takes 262,144 bytes, more than the 232,448 of a block's shared memory"),
    ],
)
def test_what_is_refused_is_said(changes: dict[str, object], message: str) -> None:
    fields: dict[str, object] = {
        "address": 0, "type": TensorType.F32, "sizes": (256, 256), "strides": (1024,), "box": (16, 4), "steps": (1, 1),
    }  # fmt: skip
    with pytest.raises(UsageError, match=message):
        TensorMap(**{**fields, **changes}).check()  # type: ignore[arg-type]
