"""Compares two files of tensor_copies.cu, bit for bit: `compare_tensor_copies.py gpu.bin own.bin [table.csv]`.

A third file gets a row for each case of the first: CRC-32 of its bytes, and how many of them the other has otherwise.
"""

from __future__ import annotations

import csv
import struct
import sys
import zlib
from pathlib import Path

NAME = 96


def records(file: str) -> dict[str, bytes]:
    """Content by name, in order."""
    data, found, at = Path(file).read_bytes(), {}, 0
    while at + NAME + 4 <= len(data):
        name = data[at : at + NAME].split(b"\0")[0].decode()
        (size,) = struct.unpack_from("<I", data, at + NAME)
        at += NAME + 4
        found[name] = data[at : at + size]
        at += size
    return found


def differences(one: bytes, other: bytes) -> int:
    return sum(a != b for a, b in zip(one, other, strict=False)) + abs(len(one) - len(other))


def main() -> int:
    one, other = records(sys.argv[1]), records(sys.argv[2])
    rows = [
        (name, content, differences(content, other[name]) if name in other else "") for name, content in one.items()
    ]
    for name, content, differ in rows:
        if differ != 0:
            print(f"{name}: {f'{differ} of {len(content)} bytes' if differ else 'only in the first'}")
    for name in other.keys() - one.keys():
        print(f"{name}: only in the second")
    equal = sum(differ == 0 for _, _, differ in rows)
    print(f"{equal} of {len(rows)} equal")
    if len(sys.argv) > 3:
        with Path(sys.argv[3]).open("w", newline="") as file:
            table = csv.writer(file, lineterminator="\n")
            table.writerow(["case", "digest", "differ"])
            table.writerows((name, f"{zlib.crc32(content):08x}", differ) for name, content, differ in rows)
    return equal < len(rows)


if __name__ == "__main__":
    sys.exit(main())
