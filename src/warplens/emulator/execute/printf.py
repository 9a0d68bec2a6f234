"""Device printf: formats a format string in device memory with a buffer of arguments.

Arguments have C's default promotions: 4 bytes for int, 8 for long, long long, double and pointers, each aligned to its
size.  The output is that of C's printf for every conversion that CUDA supports (all but %n).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

Reader = Callable[[int, int], bytes]
"""(address, size) -> bytes, as a thread sees memory; shorter where memory ends."""

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\d+|\*)?(?:\.(?P<precision>\*|\d*))?(?P<length>hh|h|ll|l|j|z|t|L)?(?P<kind>.)",
    re.DOTALL,
)
_WIDE = ("l", "ll", "j", "z", "t")
_NARROW = {"hh": 1, "h": 2}
LONGEST = 1 << 16  # bytes of a string at most


def text(format_at: int, arguments_at: int, read: Reader) -> tuple[str, int]:
    """Output of one thread, and how many arguments it consumed."""
    buffer = _Buffer(arguments_at, read)
    written = _CONVERSION.sub(lambda found: _converted(found, buffer, read), string(format_at, read))
    return written, buffer.count


def string(address: int, read: Reader) -> str:
    """The string at an address, up to its terminating zero."""
    content = bytearray()
    while len(content) < LONGEST:
        part = read(address + len(content), 64)
        end = part.find(0)
        content += part if end < 0 else part[:end]
        if end >= 0 or len(part) < 64:
            break
    return content.decode("utf-8", "replace")


class _Buffer:
    """Argument buffer: reads the arguments in order."""

    def __init__(self, start: int, read: Reader) -> None:
        self.at, self.read, self.count = start, read, 0

    def bits(self, size: int) -> int:
        self.at = -(-self.at // size) * size
        value = int.from_bytes(self.read(self.at, size), "little")
        self.at += size
        self.count += 1
        return value

    def whole(self, size: int) -> int:
        value = self.bits(size)
        return value - (1 << 8 * size) if value >> (8 * size - 1) else value


def _converted(found: re.Match[str], buffer: _Buffer, read: Reader) -> str:
    kind, flags = found["kind"], found["flags"]
    if kind == "%":
        return "%"
    width = buffer.whole(4) if found["width"] == "*" else int(found["width"] or 0)
    if width < 0:
        flags, width = flags + "-", -width
    precision = buffer.whole(4) if found["precision"] == "*" else found["precision"]
    exact = None if precision is None else int(precision or 0)
    if exact is not None and exact < 0:
        exact = None
    if kind in "di":
        return _padded(_integer(_narrowed(buffer, found["length"], True), 10, flags, exact), flags, width, exact)
    if kind in "ouxX":
        value = _narrowed(buffer, found["length"], False)
        digits = _integer(value, {"o": 8, "u": 10}.get(kind, 16), flags.replace("+", "").replace(" ", ""), exact)
        return _padded(digits.upper() if kind == "X" else digits, flags, width, exact)
    if kind in "eEfFgGaA":
        return _padded(_real(buffer, kind, flags, exact), flags, width, None)
    if kind == "c":
        return _padded(chr(buffer.bits(4) & 0xFF), flags.replace("0", ""), width, None)
    if kind == "p":
        return _padded(f"{buffer.bits(8):#x}", flags.replace("0", ""), width, None)
    if kind == "s":
        address = buffer.bits(8)
        shown = string(address, read)[:exact] if address else "(null)"
        return _padded(shown, flags.replace("0", ""), width, None)
    return found[0]  # not a printf conversion: printed unchanged


def _narrowed(buffer: _Buffer, length: str | None, signed: bool) -> int:
    value = buffer.bits(8 if length in _WIDE else 4)
    size = 8 if length in _WIDE else _NARROW.get(length or "", 4)
    value &= (1 << 8 * size) - 1
    return value - (1 << 8 * size) if signed and value >> (8 * size - 1) else value


def _integer(value: int, base: int, flags: str, precision: int | None) -> str:
    digits = {8: f"{abs(value):o}", 10: f"{abs(value)}", 16: f"{abs(value):x}"}[base]
    if precision is not None:
        digits = "" if value == 0 and precision == 0 else digits.rjust(precision, "0")
    prefix = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    if "#" in flags and base == 8 and not digits.startswith("0"):
        digits = "0" + digits
    if "#" in flags and base == 16 and value:
        prefix += "0x"
    return prefix + digits


def _real(buffer: _Buffer, kind: str, flags: str, precision: int | None) -> str:
    (value,) = struct.unpack("<d", buffer.bits(8).to_bytes(8, "little"))
    signs = "".join(sign for sign in "+ #" if sign in flags)
    if kind in "aA":
        shown = _hexadecimal(value, precision)
        if "+" in flags or " " in flags:
            shown = shown if shown.startswith("-") else ("+" if "+" in flags else " ") + shown
        return shown.upper() if kind == "A" else shown
    exact = "" if precision is None else f".{precision}"
    return str(f"%{signs}{exact}{kind}" % value)


def _hexadecimal(value: float, precision: int | None) -> str:
    """As C's %a: one digit before the point, after it no more than the precision or the value needs."""
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    sign, rest = ("-", value.hex()[1:]) if value.hex().startswith("-") else ("", value.hex())
    mantissa, exponent = rest.removeprefix("0x").split("p")
    lead, _, fraction = mantissa.partition(".")
    if precision is None:
        fraction = fraction.rstrip("0")
    else:
        whole = int(lead + fraction, 16)
        drop = 4 * (len(fraction) - precision)
        if drop > 0:
            half = 1 << (drop - 1)
            whole = (whole + half - 1 + (whole >> drop & 1)) >> drop
            digits = f"{whole:x}".rjust(precision + 1, "0")
            lead, fraction = digits[: len(digits) - precision], digits[len(digits) - precision :]
        else:
            fraction = fraction.ljust(precision, "0")
    return f"{sign}0x{lead}{'.' if fraction else ''}{fraction}p{exponent}"


def _padded(shown: str, flags: str, width: int, precision: int | None) -> str:
    """Pads to `width`; zeros go between the sign and the digits, and are ignored with a precision."""
    if "-" in flags:
        return shown.ljust(width)
    if "0" not in flags or precision is not None or shown.lstrip("+- ")[:3].lower() in ("inf", "nan"):
        return shown.rjust(width)
    head = re.match(r"[-+ ]?(?:0[xX])?", shown)
    end = head.end() if head else 0
    return shown[:end] + shown[end:].rjust(width - end, "0")
