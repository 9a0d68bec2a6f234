"""Operand parser: parses operand text as nvdisasm prints it.

    register    R7  -R7  |R7|  ~UR4  !P0  R7.H0_H0  R7.reuse
    number      0x1f  -0x8  1.5  -2.38e-07  +INF  -QNAN
    constant    c[0x0][0x160]  -c[0x3][R5+0x1c]  |c[0x0][0x8]|
    address     [R2]  [R2.64+UR4+-0x8]  desc[UR4][R2.64]  [0x10]
    place       0x2a0  $calls$_Z3fibi      (in branches, calls and returns)

A register that reads zero (RZ, URZ) is left out of addresses and constants.  `.reuse` only steers the
register cache, the descriptor of an address is zero in ordinary kernels; both are dropped.  What fits none of
these forms is kept by its text, as a Special, so that kernels with exotic instructions can be listed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import cast

from warplens.core.cubin import CODE_BASE
from warplens.core.memory_opcodes import DEVICE_WIDE, EVERY_ACTION, opcodes
from warplens.core.program import Address, Constant, File, Immediate, Label, Operand, Register, Special
from warplens.errors import CubinError

NUMBER = r"-?0x[0-9a-f]+"
REGISTER = re.compile(
    r"(?P<sign>[-~!]?)(?P<bar>\|?)(?P<file>UR|R|UP|P|B|SB)(?P<index>\d+|Z|T)\|?(?P<suffix>(?:\.\w+)*)"
)
CODE_ADDRESS = re.compile(
    r"32@(?P<half>lo|hi)\(\(?(?:fun@fdesc\()?(?P<name>[^\s()]+)\)?(?: \+ (?P<addend>0x[0-9a-f]+))?\)\)?"
)
INTEGER = re.compile(NUMBER)
REAL = re.compile(r"[-+]?(?:\d+(?:\.\d*)?(?:e[-+]?\d+)?|INF|[QS]?NAN)", re.IGNORECASE)
CONSTANT = re.compile(
    r"(?P<sign>[-~!]?)(?P<bar>\|?)c\[(?P<bank>0x[0-9a-f]+)\]\[(?P<inside>[^\]]+)\]\|?(?P<suffix>(?:\.\w+)*)"
)
MISPLACED = re.compile(r"(\w)desc,\[")  # so nvdisasm prints it for sm_80 after a load with a cache policy
ADDRESS = re.compile(r"(?:desc\[\w+\]|tmem)?\[(?P<inside>[^\]]+)\]")
POLICY = re.compile(r"desc\[UR(?:\d+|Z)\]")  # how the caches treat a bulk copy
TERM = re.compile(rf"(?P<register>U?R(?:\d+|Z))(?P<suffix>(?:\.\w+)*)|(?P<number>{NUMBER})")
DESCRIPTOR = re.compile(r"(?<=\])(?=\[)")
PARTS = re.compile(r",(?![^\[]*\])(?![^{]*\})")  # not the commas inside brackets and braces: {3,2}

JUMPS = frozenset(("BRA", "BSSY", "CALL", "RET", "JMP", "LEPC", "WARPSYNC.COLLECTIVE", "WARPSYNC.COLLECTIVE.ALL"))
"""Opcodes whose last operand, if it is a number or a name, is a place in the code."""

RELATIVE_JUMPS = frozenset(("BRX", "BRXU"))
"""Their number counts from the next instruction; the register is added to the place so found."""

PAIR_ADDRESSES = frozenset({"CCTL", "QSPC", *opcodes(DEVICE_WIDE, ("load", "store", "atomic", "reduction"))})
"""With `.E` their address is 64 bits wide, whether or not `.64` is printed after the register."""

SCALE = re.compile(r"X(\d+)")

KEEPS = frozenset(("R2UR.OR",))
"""What they write first is also read, which the listing leaves out: it is repeated at the end."""

KEEPERS = frozenset(("LDTM",))
"""Likewise, with any modifiers."""

HANDLES = opcodes(("texture", "surface"), EVERY_ACTION) | {"TXQ"}
"""Textures and surfaces: up to sm_90 the handle's uniform register is printed with an offset, which is 0; coordinates
on a surface are printed like an address, and are the first of several registers."""

GROUP_PRODUCTS = ("HGMMA", "IGMMA", "QGMMA", "BGMMA")
"""Of which gdesc[UR4] stands for the descriptors of both matrices, or of B alone where A is in registers, and the
predicate is left out if it is true."""

COMMIT = "gsb0"  # the group that a product, and those before, become one of

TENSOR_PRODUCTS = frozenset(("UTCHMMA", "UTCQMMA", "UTCIMMA", "UTCOMMA"))
"""Of which the listing leaves out lanes and scales where there are none, after the instruction descriptor."""

HELD = re.compile(r"[gi]desc\[(?P<register>UR(?:\d+|Z))\](?:\.\w+)*")  # suffixes, of a buffer, change no result
DESCRIPTOR_PLACE = 4

MATRICES = re.compile(r"gdesc\[(?P<register>UR(?:\d+|Z))\](?P<suffix>(?:\.\w+)*)")

RETURN = {"Rpc.LO": Register("R", 256), "Rpc.HI": Register("R", 257)}
"""The place to return to, in which the compiler also keeps registers for a while: after all others."""


def parse_operands(
    opcode: str, text: str, encoding: int, offset: int, functions: Mapping[str, int]
) -> tuple[Operand, ...]:
    """The operands of the instruction at `offset`; `functions` are the places of names in its section.

    Floating-point numbers take their bits from the encoding, as the printed decimals are rounded.  Raises
    CubinError for a call of something that is not in the section.
    """
    base, *modifiers = opcode.split(".")
    text = MISPLACED.sub(r"\1,desc[", text)
    if "@" in text:
        text = CODE_ADDRESS.sub(lambda match: _half_of_address(match, functions), text)
    pieces = [part.strip() for piece in PARTS.split(text) for part in _two_addresses(piece)] if text else []
    pieces = [piece for piece in pieces if not POLICY.fullmatch(piece)]
    operands = [_operand(piece) for piece in pieces]
    if pieces and (base in JUMPS | RELATIVE_JUMPS or opcode in JUMPS):
        operands[-1] = _place(base, pieces[-1], operands[-1], offset, functions)
    if base in PAIR_ADDRESSES and "E" in modifiers:
        operands = [_pair(operand) if isinstance(operand, Address) else operand for operand in operands]
    if base in HANDLES:
        operands = _without_offset([_coordinates(operand) for operand in operands])
    if base in TENSOR_PRODUCTS:
        operands = _of_tensor_product(operands, "WS" in modifiers)
    if base in GROUP_PRODUCTS:
        operands = _of_group_product(pieces, operands)
    if opcode in KEEPS or base in KEEPERS:
        operands.append(operands[0])
    return tuple(_with_float_bits(operands, encoding))


def _half_of_address(match: re.Match[str], functions: Mapping[str, int]) -> str:
    """`32@lo((f + 0x60))` of a function that stands with the code, as a number."""
    if match["name"] not in functions:
        return match[0]
    place = functions[match["name"]] + int(match["addend"] or "0", 16)
    return hex(place & 0xFFFFFFFF if match["half"] == "lo" else place >> 32)


def parse_guard(text: str) -> Register | None:
    """`@!P0` -> the predicate; None where there is none."""
    if not text.startswith("@"):
        return None
    guard = parse_register(text[1:])
    if guard is None:
        raise CubinError(f"{text} is not a predicate")
    return guard


def parse_register(text: str) -> Register | None:
    if text in RETURN:
        return RETURN[text]
    match = REGISTER.fullmatch(text)
    if match is None:
        return None
    index = match["index"]
    return Register(
        file=cast(File, match["file"]),
        index=int(index) if index.isdigit() else -1,
        negate=match["sign"] == "-",
        absolute=bool(match["bar"]),
        invert=match["sign"] in ("~", "!"),
        part=".".join(suffix for suffix in match["suffix"].split(".") if suffix not in ("", "reuse")),
    )


def _two_addresses(piece: str) -> list[str]:
    """LDGSTS prints `[R7][R2.64]` up to sm_89, without a comma."""
    return DESCRIPTOR.split(piece) if piece.startswith("[") else [piece]


@lru_cache(maxsize=1 << 14)
def _operand(text: str) -> Operand:
    if register := parse_register(text):
        return register
    if (match := HELD.fullmatch(text)) and (register := parse_register(match["register"])):
        return register
    if INTEGER.fullmatch(text):
        return Immediate(int(text, 16))
    if REAL.fullmatch(text):
        return Immediate(0, text)
    if match := CONSTANT.fullmatch(text):
        return _constant(match) or Special(text)
    if match := ADDRESS.fullmatch(text):
        return _address(match["inside"]) or Special(text)
    return Special(text)


def _constant(match: re.Match[str]) -> Constant | None:
    inside = _address(match["inside"])
    if inside is None:
        return None
    return Constant(
        bank=int(match["bank"], 16),
        offset=inside.offset,
        index=inside.base or inside.uniform,
        negate=match["sign"] == "-",
        absolute=bool(match["bar"]),
        invert=match["sign"] == "~",
        part=match["suffix"].removeprefix("."),
    )


def _address(inside: str) -> Address | None:
    """The sum between brackets; None if it is not one of registers and a number."""
    address = Address(base=None, uniform=None, offset=0)
    for text in inside.split("+"):
        term = TERM.fullmatch(text)
        if term is None:
            return None
        if term["number"]:
            address = replace(address, offset=int(term["number"], 16))
            continue
        register = parse_register(term["register"])
        if register is None or register.index < 0:
            continue
        if register.file == "UR":
            address = replace(address, uniform=register)
        else:
            suffixes = term["suffix"].split(".")
            scale = SCALE.search(term["suffix"])
            address = replace(
                address,
                base=register,
                scale=int(scale[1]) if scale else 1,
                wide="64" in suffixes,
                unsigned="U32" in suffixes,
            )
    return address


def _pair(address: Address) -> Address:
    return replace(address, wide=address.base is not None and not address.unsigned)


def _coordinates(operand: Operand) -> Operand:
    if not isinstance(operand, Address) or operand.offset or operand.uniform or operand.wide:
        return operand
    return operand.base or Register("R", -1)


def _without_offset(operands: list[Operand]) -> list[Operand]:
    handle = next((k for k, o in enumerate(operands) if isinstance(o, Register) and o.file == "UR"), None)
    if handle is None or operands[handle + 1 : handle + 2] != [Immediate(0)]:
        return operands
    return operands[: handle + 1] + operands[handle + 2 :]


def _of_group_product(pieces: Sequence[str], operands: Sequence[Operand]) -> list[Operand]:
    """Destination, A, B, addends, predicate, then metadata and selector: a matrix in shared memory by the first
    register of its descriptor, with what is done to it as its part; the predicate's part is the group that it ends.
    URZ where it only ends a group: ptxas puts a product of nothing where a group has products of several branches."""
    place = next(k for k, piece in enumerate(pieces) if piece.startswith("gdesc"))
    match = MATRICES.fullmatch(pieces[place])
    first = match and parse_register(match["register"])
    if match is None or first is None:
        raise CubinError(f"{pieces[place]} names no matrices")
    changes = match["suffix"].split(".")
    left, right = (replace(first, part=".".join(c for c in changes if c.endswith(matrix))) for matrix in "AB")
    right = replace(right, index=first.index + 2 if first.index >= 0 else -1)
    rest = [operand for operand in operands[place + 1 :] if operand != Special(COMMIT)]
    if len(rest) < 2 or not (isinstance(rest[1], Register) and rest[1].file == "UP"):
        rest.insert(1, Register("UP", -1))
    scale = rest[1]
    if Special(COMMIT) in operands and isinstance(scale, Register):
        rest[1] = replace(scale, part=COMMIT)
    return [operands[0], operands[1] if place == 2 else left, right, *rest]


def _of_tensor_product(operands: Sequence[Operand], stationary: bool) -> list[Operand]:
    """A, B, D, the place of a sparse A's metadata, lanes or scales, predicate.  Left out: the instruction descriptor,
    which is in the register after the place."""
    known = [*operands[:DESCRIPTOR_PLACE], *operands[DESCRIPTOR_PLACE + 1 :]]
    follows = known[DESCRIPTOR_PLACE : DESCRIPTOR_PLACE + 1]
    if not stationary and follows and isinstance(follows[0], Register) and follows[0].file == "UP":
        known.insert(DESCRIPTOR_PLACE, Register("UR", -1))
    return known


def _place(base: str, text: str, operand: Operand, offset: int, functions: Mapping[str, int]) -> Operand:
    if base in RELATIVE_JUMPS:
        return Label(offset + 16 + operand.bits) if isinstance(operand, Immediate) else operand
    if isinstance(operand, Immediate):
        return Label(operand.bits)
    name = text.strip("`()")
    if functions.get(name, 0) >= CODE_BASE:  # of the driver, not in the code
        return Immediate(functions[name])
    if name in functions and (isinstance(operand, Special) or base == "RET"):
        return Label(functions[name], name)
    if isinstance(operand, Special):
        raise CubinError(
            f"the code refers to {name}, which does not stand with it: link files that are compiled by themselves "
            "(nvcc -rdc=true) first"
        )
    return operand


def _with_float_bits(operands: list[Operand], encoding: int) -> list[Operand]:
    """A single float is the word in bits 63:32; of a pair of halves the first printed is its upper half."""
    floats = [k for k, operand in enumerate(operands) if isinstance(operand, Immediate) and operand.real]
    word = encoding >> 32 & 0xFFFFFFFF
    values = [word] if len(floats) == 1 else [word >> 16, word & 0xFFFF]
    for k, bits in zip(floats, values, strict=False):
        operands[k] = replace(cast(Immediate, operands[k]), bits=bits)
    return operands
