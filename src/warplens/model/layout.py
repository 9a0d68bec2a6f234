"""Array layout: enumerations of the SM simulation, and sizes of its arrays."""

from __future__ import annotations

from enum import IntEnum, unique

from warplens.machine.parameter import assumed


@unique
class Kind(IntEnum):
    """What an instruction does to the units of an SM.  FIXED, VARIABLE: arithmetic without and with a scoreboard."""

    FIXED = 0
    VARIABLE = 1
    LOAD = 2
    STORE = 3
    ATOMIC = 4
    REDUCTION = 5
    ASYNC_COPY = 6
    COPY_GROUP = 7
    COPY_WAIT = 8
    BARRIER = 9
    BARRIER_ARRIVE = 10
    FENCE = 11
    SHUFFLE = 12
    CONSTANT_LOAD = 13
    EXIT = 14
    SPECIAL_REGISTER = 15
    PRODUCT_GROUP = 16
    PRODUCT_WAIT = 17
    MBARRIER = 18
    MBARRIER_WAIT = 19
    BULK_LOAD = 20
    BULK_STORE = 21
    PRODUCT_START = 22


LOAD_STORE_KINDS = (Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.REDUCTION, Kind.ASYNC_COPY, Kind.SHUFFLE)
QUEUED_KINDS = (*LOAD_STORE_KINDS, Kind.CONSTANT_LOAD, Kind.SPECIAL_REGISTER)  # that pass a sub-partition's queue


@unique
class MbarrierUpdate(IntEnum):
    """What an instruction does to an mbarrier, with the number that the trace has.

    INIT: sets it;  ARRIVE: so many arrivals a lane;  ARRIVE_EXPECTING: one, and so many bytes are expected;
    EXPECT, COMPLETE: bytes that are expected, that have come
    """

    NONE = 0
    INIT = 1
    ARRIVE = 2
    ARRIVE_EXPECTING = 3
    EXPECT = 4
    COMPLETE = 5


@unique
class Pipe(IntEnum):
    """Pipes of a sub-partition.  FMA_LITE of an instruction: either half of the FMA pipe, in turn."""

    NONE = 0
    FMA_LITE = 1
    FMA_HEAVY = 2
    ALU = 3
    FP16 = 4
    FP64 = 5
    XU = 6
    LSU = 7
    CBU = 8
    ADU = 9
    UNIFORM = 10
    TENSOR = 11
    TEX = 12


@unique
class StallReason(IntEnum):
    """Stall reasons, in Nsight Compute's terms."""

    SELECTED = 0
    WAIT = 1
    LONG_SCOREBOARD = 2
    SHORT_SCOREBOARD = 3
    BARRIER = 4
    MATH_PIPE_THROTTLE = 5
    LG_THROTTLE = 6
    MIO_THROTTLE = 7
    NOT_SELECTED = 8
    BRANCH_RESOLVING = 9
    NO_INSTRUCTION = 10
    MEMBAR = 11
    DISPATCH_STALL = 12
    DRAIN = 13
    GMMA = 14


PIPES = tuple(pipe.name.lower() for pipe in Pipe)
REASONS = tuple(reason.name.lower() for reason in StallReason)
BANKS = 2  # of registers
WAYS = assumed(16, "lines of a set", "no trial reads the sets of L1 and L2")
SCOREBOARDS = 6  # defined: encoding
BLOCK_BARRIERS = 16  # defined: PTX
MBARRIERS = 128  # of a block, that are tracked; defined: capacity
WARPGROUP_BARRIER = BLOCK_BARRIERS + MBARRIERS  # what warps wait for that have come to a product: the others of four
WARPGROUP = 4  # warps; defined: PTX
GROUPS = 8  # asynchronous groups of copies, and of products, that are tracked; defined: capacity
CODE_LINE = 8  # defined: instructions in 128 bytes
NEVER = 1e18  # defined: later than all cycles
LOCAL_BASE = 1 << 33  # defined: line numbers of local memory, above all others
