"""Operation records: what an access to a texture, a bulk copy or a warpgroup's product does.

The meaning of an opcode makes them once; the emulator reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Family = Literal["halves", "bytes", "wholes", "nibbles"]  # of elements of matrices in tensor memory's products
BulkNumber = Literal["u32", "s32", "u64", "s64", "f16", "bf16", "f32", "f64"]


@dataclass(frozen=True, slots=True)
class TextureFetch:
    """What a texture instruction does with the texture of each lane.

    operation    "sample" takes coordinates as floats, "load" as integers, "gather" one component of four texels
    shape        "2D", "ARRAY_2D", "CUBE" ...: a layer precedes the coordinates, or follows those of TXD
    level        of the mipmap: the first, one that the instruction gives, or by gradients
    """

    operation: Literal["sample", "load", "gather"]
    shape: str
    level: Literal["first", "given", "by gradients"] = "first"
    component: int = 0

    @property
    def axes(self) -> int:
        """Dimensions, without layers and faces."""
        return 2 if "CUBE" in self.shape else int(self.shape.removeprefix("ARRAY_")[0])

    @property
    def layered(self) -> bool:
        return self.shape.startswith("ARRAY_")

    @property
    def coordinates(self) -> int:
        """Of one lane, without the layer."""
        return 3 if "CUBE" in self.shape else self.axes


@dataclass(frozen=True, slots=True)
class SurfaceAccess:
    """What a surface instruction accesses.

    shape    "2D", "2D_ARRAY" ...: a layer follows the coordinates
    bytes    that a lane moves;  scaled: x counts elements, not bytes
    outside  what happens beyond the edges: an error, the nearest element, or nothing and zeros
    """

    shape: str
    bytes: int
    outside: Literal["trap", "clamp", "zero"]
    scaled: bool = False

    @property
    def axes(self) -> int:
        return int(self.shape[0])

    @property
    def layered(self) -> bool:
        return self.shape.endswith("_ARRAY")

    @property
    def coordinates(self) -> int:
        return self.axes + self.layered


@dataclass(frozen=True, slots=True)
class BulkCopy:
    """What a bulk copy does; `reduction`: what with each word of the target, instead of replacing it."""

    to: Literal["global", "shared"]
    source: Literal["global", "shared"]
    reduction: BulkReduction | None = None


@dataclass(frozen=True, slots=True)
class BulkReduction:
    """Reduction of a bulk copy; of tensors the number is that of their map, and None here."""

    op: Literal["add", "min", "max", "inc", "dec", "and", "or", "xor"]
    number: BulkNumber | None = None


@dataclass(frozen=True, slots=True)
class TensorCopy:
    """What a bulk copy of a box of a tensor does: "load" to shared memory, "store" from there.

    axes    dimensions of the tensor;  im2col: pixels of a column, and not a tile
    """

    direction: Literal["load", "store"]
    axes: int
    im2col: bool = False
    reduction: BulkReduction | None = None


@dataclass(frozen=True, slots=True)
class TensorAccess:
    """What a warp loads from tensor memory, or stores there.

    shape   lanes and bits of each, as the opcode names them;  count: how often it is repeated along the columns
    packed  whether each register has the low halves of two columns
    """

    shape: str
    count: int
    packed: bool

    @property
    def words(self) -> int:
        """Registers of a thread."""
        return self.count * {"16dp128bit": 2, "16dp256bit": 4}.get(self.shape, 1)


@dataclass(frozen=True, slots=True)
class TensorMemoryCopy:
    """A copy from shared to tensor memory: rows of so many bits, and the lanes that each goes to, as the opcode names
    them; of a pair of blocks each copies its own."""

    shape: str
    pair: bool = False


@dataclass(frozen=True, slots=True)
class TensorProduct:
    """A product in tensor memory; the rest, also its shape, an instruction descriptor says.

    family   of the elements: F16, BF16 and TF32; of 8, 6 and 4 bits; whole numbers; scaled ones of 4 bits
    blocks   scales of a row of A, and of a column of B: of one block along K each; 0 without scales
    layout   of the result: "one" block's, the same of .ws ("stationary"), or of the "pair" of blocks that forms it
    halvings of what is added
    """

    family: Family
    blocks: int = 0
    layout: Literal["one", "stationary", "pair"] = "one"
    halvings: int = 0


@dataclass(frozen=True, slots=True)
class GroupProduct:
    """The product of a warpgroup: 64 rows of A times `columns` of B, 32 bytes of each along K (of a sparse A's B, 64).

    family       what is summed: floats, whole numbers, or the ones that words of bits have in common
    kinds        of the elements of A and of B; result: of the accumulator
    places       binary places behind the largest exponent that a float sum keeps; digits: of a result in F32
    selector     of a sparse A: which lanes of four hold the metadata; None: it is dense
    registers    whether A is in registers;  transposed: for A and B, whether 16 bytes of memory run across K
    """

    family: Literal["float", "integer", "bits"]
    kinds: tuple[str, str]
    result: Literal["F16", "F32", "S32"]
    columns: int
    places: int = 0
    digits: int = 24
    selector: int | None = None
    registers: bool = False
    negated: tuple[bool, bool] = (False, False)
    transposed: tuple[bool, bool] = (False, False)
    saturates: bool = False

    @property
    def words(self) -> int:
        """Registers of a thread's accumulators."""
        return self.columns // (4 if self.result == "F16" else 2)

    @property
    def chunks(self) -> int:
        """Runs of 16 bytes along K in B."""
        return 2 if self.selector is None else 4
