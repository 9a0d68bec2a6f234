"""Compares two files that textures.cu has written, bit for bit: `compare_textures.py gpu.bin own.bin`."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np

NAME, PLACES = 96, "/places"
PLACE = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("level", "f4"), ("layer", "i4"), ("gradients", "f4", 6)])


def records(file: str) -> dict[str, bytes]:
    """Content by name, in order."""
    data, found, at = Path(file).read_bytes(), {}, 0
    while at < len(data):
        name = data[at : at + NAME].split(b"\0")[0].decode()
        (size,) = struct.unpack_from("<I", data, at + NAME)
        at += NAME + 4
        found[name] = data[at : at + size]
        at += size
    return found


def difference(name: str, one: bytes, other: bytes, places: bytes) -> str:
    """How many words differ, by how much at most, and the first of them; nothing where they are equal."""
    if len(one) != len(other):
        return f"{len(one)} and {len(other)} bytes"
    if name.startswith("surface"):
        differs = sum(a != b for a, b in zip(one, other, strict=True))
        return f"{differs} of {len(one)} bytes" if differs else ""
    ours, theirs = (np.frombuffer(data, np.uint32).reshape(-1, 4) for data in (other, one))
    wrong = np.argwhere(ours != theirs)
    if not wrong.size:
        return ""
    floats, wanted = ours.view(np.float32), theirs.view(np.float32)
    with np.errstate(all="ignore"):
        far = np.nanmax(np.abs(floats - wanted))
        steps = np.abs(ours.astype(np.int64) - theirs)[ours != theirs]
    row, word = wrong[0]
    place = np.frombuffer(places, PLACE)[row]
    return (
        f"{len(wrong)} of {ours.size} words, at most {far:g} apart ({np.count_nonzero(steps == 1)} in the last bit); "
        f"first at {row}.{word}: {wanted[row, word]!r} ({theirs[row, word]:#010x}), here {floats[row, word]!r} "
        f"({ours[row, word]:#010x}), x {place['x']!r} y {place['y']!r} z {place['z']!r} level {place['level']!r} layer "
        f"{place['layer']}"
    )


def main() -> int:
    one, other = records(sys.argv[1]), records(sys.argv[2])
    for name in sorted(one.keys() ^ other.keys()):
        print(f"{name}: only in {sys.argv[1 if name in one else 2]}")
    both = [name for name in one if name in other and not name.endswith(PLACES)]
    equal = 0
    for name in both:
        if one.get(name + PLACES) != other.get(name + PLACES):
            print(f"{name}: the places differ, the executables are not the same")
        found = difference(name, one[name], other[name], one.get(name + PLACES, b""))
        equal += not found
        if found:
            print(f"{name}: {found}")
    print(f"{equal} of {len(both)} cases equal")
    return equal != len(both)


if __name__ == "__main__":
    sys.exit(main())
