"""Launch block edit: other sizes in the launch block of a source text, in the block's own style."""

from __future__ import annotations

from collections.abc import Mapping

import tomlkit

from warplens.launchspec.launch_block import Size, read_launch_block

Sizes = tuple[int, int, int]


def with_sizes(text: str, file: str, title: str, sizes: Mapping[str, Size]) -> str:
    """The text with these values of "grid", "block" and "shared" in the table `title`; as it is without a block."""
    found = read_launch_block(text, file)
    if found is None or title not in found.kernels or not sizes:
        return text
    lines = text.split("\n")
    first = found.line  # the line after the opening one, from 0
    last = next(at for at in range(first, len(lines)) if lines[at].strip().replace(" ", "") == "/////")
    head = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
    content = [line.strip().removeprefix("//").removeprefix(" ") for line in lines[first:last]]
    document = tomlkit.parse("\n".join(content))
    for key, size in sizes.items():
        document[title][key] = list(size) if isinstance(size, tuple) else size
    changed = [f"{head}// {line}".rstrip() for line in tomlkit.dumps(document).split("\n")]
    return "\n".join([*lines[:first], *changed, *lines[last:]])


def divided(size: Size, over: Sizes) -> Size | None:
    """A grid of the block divided by whole numbers, rounded up: "n / 128" by 4 is "ceil(n / 128 / 4)".

    None for several sizes in one text: these are not taken apart.
    """
    if isinstance(size, str) and "," in size:
        return None
    parts = size if isinstance(size, tuple) else (size,)
    if any(by > 1 for by in over[len(parts) :]):
        return None
    made = tuple(_over(part, by) for part, by in zip(parts, over, strict=False))
    return made[0] if len(made) == 1 else made


def multiplied(size: Size, times: Sizes) -> Size | None:
    """A grid of the block multiplied by whole numbers; None for several sizes in one text."""
    if isinstance(size, str) and "," in size:
        return None
    parts = size if isinstance(size, tuple) else (size,)
    if any(by > 1 for by in times[len(parts) :]):
        return None
    made = tuple(_times(part, by) for part, by in zip(parts, times, strict=False))
    return made[0] if len(made) == 1 else made


def exchanged(size: Size, other: int = 1) -> Size | None:
    """A grid of the block with x and y (or z) exchanged; None where they do not stand apart."""
    if not isinstance(size, tuple) or len(size) <= other:
        return None
    made = list(size)
    made[0], made[other] = made[other], made[0]
    return tuple(made)


def _times(part: int | str, by: int) -> int | str:
    if by == 1:
        return part
    if isinstance(part, int):
        return part * by
    plain = all(letter not in "+-/<>%" for letter in part)
    return f"{part} * {by}" if plain else f"({part}) * {by}"


def _over(part: int | str, by: int) -> int | str:
    if by == 1:
        return part
    if isinstance(part, int):
        return -(-part // by)
    simple = all(letter not in "+-<>%" for letter in part)
    return f"ceil({part} / {by})" if simple else f"ceil(({part}) / {by})"
