"""Textures and surfaces: fetches by texture object, loads and stores by surface object.

The object's handle is in a uniform register; its descriptor says the rest (core/texture_descriptor.py).  The results
that the mask selects lie in the second destination, then the first, two registers each.
"""

from __future__ import annotations

from typing import Literal

from warplens.core.program import Register, Special
from warplens.isa.dsl.lanes import U32, Pred
from warplens.isa.dsl.op import op
from warplens.isa.dsl.operation_records import SurfaceAccess, TextureFetch
from warplens.isa.dsl.warp_interface import AtomicOperation, Data, Warp

ALL = 0xF  # of the four results
TEXELS = tuple[Data, Data, Pred]
COMPONENTS = "RGBA"
Shape = Literal["1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY"]
Size = Literal["U8", "S8", "U16", "S16", "32", "64", "128"]
BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "32": 4, "64": 8, "128": 16}
ORDER = "STRONG SM GPU SYS CTA WEAK"
SHAPES = ("1D", "2D", "3D", "CUBE", "ARRAY_1D", "ARRAY_2D", "ARRAY_3D", "ARRAY_CUBE")


def selected(w: Warp, words: Data, mask: int) -> TEXELS:
    """The second pair of results, the first, and whether a texel is not resident: never."""
    kept = [word for number, word in enumerate(words.words) if mask >> number & 1]
    return Data(kept[2:]), Data(kept[:2]), w.active & False


def sampled(w: Warp, fetch: TextureFetch, at: Register, level: Data, handle: U32, mask: int) -> TEXELS:
    return selected(w, w.fetch(handle, fetch, w.stored(at, fetch.coordinates + fetch.layered), level), mask)


@op("TEX.LL", pipe="tex", text="{to} = texture {texture} ({shape}) at {at}, level {level}")
def tex_level(w: Warp, at: Register, level: Register, texture: U32, shape: Special, mask: int = ALL) -> TEXELS:
    """Without a level of its own a kernel asks for level -32."""
    return sampled(w, TextureFetch("sample", shape.name, "given"), at, w.stored(level, 1), texture, mask)


@op("TEX.LZ", "TEX", pipe="tex", text="{to} = texture {texture} ({shape}) at {at}")
def tex(w: Warp, at: Register, texture: U32, shape: Special, mask: int = ALL) -> TEXELS:
    return sampled(w, TextureFetch("sample", shape.name), at, Data([]), texture, mask)


@op("TXD", pipe="tex", text="{to} = texture {texture} ({shape}) at {at}, gradients {gradients}")
def txd(w: Warp, at: Register, gradients: Register, texture: U32, shape: Special, mask: int = ALL) -> TEXELS:
    """Here the layer follows the coordinates."""
    fetch = TextureFetch("sample", shape.name, "by gradients")
    words = list(w.stored(at, fetch.coordinates + fetch.layered).words)
    given = Data([*words[fetch.coordinates :], *words[: fetch.coordinates]])
    return selected(w, w.fetch(texture, fetch, given, w.stored(gradients, 2 * fetch.axes)), mask)


@op("TLD.LZ", pipe="tex", text="{to} = texel {at} of texture {texture} ({shape})")
def tld(w: Warp, at: Register, texture: U32, shape: Special, mask: int = ALL) -> TEXELS:
    return sampled(w, TextureFetch("load", shape.name), at, Data([]), texture, mask)


@op("TLD4.{component}", pipe="tex", text="{to} = {component} of 4 texels of texture {texture} around {at}")
def tld4(
    w: Warp, at: Register, texture: U32, shape: Special, mask: int = ALL,
    *, component: Literal["R", "G", "B", "A"],
) -> TEXELS:  # fmt: skip
    fetch = TextureFetch("gather", shape.name, component=COMPONENTS.index(component))
    return sampled(w, fetch, at, Data([]), texture, mask)


@op("TXQ", pipe="tex", text="{to} = {what} of texture {texture}")
def txq(w: Warp, level: Register, what: Special, texture: U32, mask: int = ALL) -> tuple[Data, Data]:
    """TEX_HEADER_DIMENSION: width, height, depth, levels."""
    second, first, _ = selected(w, w.texture_size(texture, w.stored(level, 1).words[0]), mask)
    return second, first


# Surfaces.  x counts bytes (.BA)


def access(shape: str, size: str, TRAP: bool, IGN: bool) -> SurfaceAccess:
    return SurfaceAccess(shape, BYTES[size], "trap" if TRAP else "zero" if IGN else "clamp")


@op("SULD.D.BA.{shape}", pipe="tex", text="{to} = {size} of surface {surface} ({shape}) at {at}", ignores=ORDER)
def suld(w: Warp, at: Register, surface: U32, *, shape: Shape, size: Size = "32", TRAP: bool, IGN: bool) -> Data:
    found = access(shape, size, TRAP, IGN)
    data = w.load_surface(surface, found, w.stored(at, found.coordinates))
    if not size.startswith("S"):
        return data
    unused = 32 - 8 * BYTES[size]
    return Data([((data.words[0] << unused).s32() >> unused).u32()])


@op("SUST.D.BA.{shape}", pipe="tex", text="surface {surface} ({shape}) at {at} = {value}, {size}", ignores=ORDER)
def sust(
    w: Warp, at: Register, value: Register, surface: U32, *, shape: Shape, size: Size = "32", TRAP: bool,
    IGN: bool,
) -> None:  # fmt: skip
    found = access(shape, size, TRAP, IGN)
    w.store_surface(surface, found, w.stored(at, found.coordinates), w.stored(value, max(found.bytes // 4, 1)))


@op("SURED.D.BA.{shape}", pipe="tex", text="surface {surface} ({shape}) at {at}: reduction {operation} of {value}",
    ignores=ORDER)  # fmt: skip
def sured(
    w: Warp, at: Register, value: Register, surface: U32, *, shape: Shape,
    operation: Literal["ADD", "MIN", "MAX", "AND", "OR", "XOR", "INC", "DEC"],
    number: Literal["32", "S32", "U64"] = "32", TRAP: bool, IGN: bool,
) -> None:  # fmt: skip
    words = 2 if number == "U64" else 1
    found = access(shape, "64" if words == 2 else "32", TRAP, IGN)
    kind = "u32" if number == "32" else number.lower()
    done = AtomicOperation(operation.lower(), kind, returns=False)  # type: ignore[arg-type]
    w.reduce_surface(surface, found, w.stored(at, found.coordinates), w.stored(value, words), done)
