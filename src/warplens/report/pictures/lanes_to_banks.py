"""Which banks of shared memory the lanes of one warp reach with one access, and how many words a bank has to give."""

from __future__ import annotations

from collections.abc import Mapping

from warplens.report.pictures._svg import Svg

BANKS, WORD = 32, 4
MARGIN, TOP, LANE_HEIGHT, GAP, WORD_HEIGHT = 16, 62, 16, 70, 12
WIDTH = 800
TALLEST = 32  # words of a bank that are drawn


def lanes_to_banks(reached: Mapping[int, int], size: int, title: str = "One access of a warp") -> str:
    """The picture as SVG text.

    reached   the byte of shared memory that each active lane reaches first;  size: bytes a lane
    """
    words = words_by_bank(reached, size)
    conflict = wavefronts(reached, size) > fewest(words)
    most = max(len(found) for found in words.values())
    shown = min(most, TALLEST)
    svg = Svg(WIDTH, TOP + LANE_HEIGHT + GAP + shown * WORD_HEIGHT + 36, title, describe(reached, size))
    step = (WIDTH - 2 * MARGIN) / BANKS
    below = TOP + LANE_HEIGHT + GAP
    for bank in range(BANKS):
        x = MARGIN + bank * step
        held = sorted(words.get(bank, ()))
        for row in range(shown):
            kind = "box" if row >= len(held) else "marked" if conflict and len(held) > 1 else "used"
            svg.rect(x, below + row * WORD_HEIGHT, step - 2, WORD_HEIGHT, kind)
            if row < len(held):
                svg.write(x + step / 2 - 1, below + row * WORD_HEIGHT + 9, str(held[row]), "tiny", "middle")
        svg.write(x + step / 2 - 1, below + shown * WORD_HEIGHT + 12, str(bank), "tiny", "middle")
    for lane in range(32):
        x = MARGIN + lane * step
        svg.rect(x, TOP, step - 2, LANE_HEIGHT, "even" if lane in reached else "box")
        svg.write(x + step / 2 - 1, TOP + 11.5, str(lane), "tiny", "middle")
    for lane, address in sorted(reached.items()):
        for word in range(address // WORD, (address + max(size, WORD) - 1) // WORD + 1):
            bank = word % BANKS
            row = min(sorted(words[bank]).index(word), shown - 1)
            kind = "hotway" if conflict and len(words[bank]) > 1 else "way"
            from_x, to_x = (MARGIN + place * step + step / 2 - 1 for place in (lane, bank))
            svg.path(kind, (from_x, TOP + LANE_HEIGHT), (to_x, below + row * WORD_HEIGHT))
    svg.write(MARGIN, TOP - 6, "lanes", "tiny")
    svg.write(MARGIN, below + shown * WORD_HEIGHT + 26, "banks; above each, the words of 4 bytes asked of it", "tiny")
    return svg.text()


def words_by_bank(reached: Mapping[int, int], size: int) -> dict[int, set[int]]:
    """The words, numbered from the start of shared memory, that each bank is asked for."""
    found: dict[int, set[int]] = {}
    for address in reached.values():
        for word in range(address // WORD, (address + size - 1) // WORD + 1):
            found.setdefault(word % BANKS, set()).add(word)
    return found


def wavefronts(reached: Mapping[int, int], size: int) -> int:
    """One after the other: the words of the fullest bank; lanes of 8 and 16 bytes go by half and quarter warps."""
    together = 32 * WORD // max(size, WORD)
    groups = [
        {lane: address for lane, address in reached.items() if lane // together == group}
        for group in range(32 // together)
    ]
    return sum(max(map(len, words_by_bank(group, size).values())) for group in groups if group)


def fewest(words: Mapping[int, set[int]]) -> int:
    """The wavefronts that so many words need at least, 32 in each."""
    return max(1, -(-sum(map(len, words.values())) // BANKS))


def describe(reached: Mapping[int, int], size: int) -> str:
    needed, least = wavefronts(reached, size), fewest(words_by_bank(reached, size))
    asked = f"{len(reached)} lanes of {size} byte{'s' * (size > 1)}"
    if needed > least:
        return f"{asked}: {needed} wavefronts where {least} would do; a bank gives one word at a time"
    return f"{asked}: {needed} wavefront{'s' * (needed > 1)}, no conflict"
