"""The records that Python and the generated code share.  One ctypes structure each; code reaches fields by offset."""

from __future__ import annotations

import ctypes as c
from enum import IntEnum

READY_SLOTS = 32  # a split has at least one lane
WAIT_SLOTS = 19  # B0 to B15, WARPSYNC, WARPSYNC.ALL, WARPSYNC.COLLECTIVE
WARPSYNC, EVERYBODY, COLLECTIVE = 16, 17, 18
BARRIERS = 17  # 16 of BAR, and the cluster's
ALL_THREADS = -1
WHOLE = 1 << 20  # in the number of a place in the code: the copy for a whole warp; the instruction stands below
INSTRUCTION = WHOLE - 1
ISSUES_AGAIN = WHOLE << 1  # a ready split that issues the BSYNC before its place once more; the barrier stands above,
# and the places of the driver (syscall_stub.py) are greater than all of these, without this bit
AT_JUMP = 1 << 30  # in the place of a ready split: it has still to issue the jump that leads there
EARLIER = WHOLE << 2  # in the place at which a lane goes on behind a WARPSYNC.COLLECTIVE: it did not come last


class Status(IntEnum):
    """What a warp or block gives back when it stops running."""

    READY = 0  # has more to do; its turn is over
    WAITING = 1  # every split waits at a block barrier
    DONE = 2
    FAULT = 3
    STOPPED = 4  # the user asked


class Reduce(IntEnum):
    POPC = 0
    AND = 1
    OR = 2


class FaultKind(IntEnum):
    NONE = 0
    STRAY = 1
    MISALIGNED = 2
    TRAP = 3
    DEADLOCK = 4
    BUDGET = 5
    BAD_JUMP = 6
    STRAY_CONSTANT = 7
    WRONG_LANES = 8  # lanes wait for a mask that they are not in
    DRIVER = 9  # a function of the driver's says what
    WRAPPED = 10  # no fault of the kernel: an index left 32 bits, which the translation relied on not to be


class Fault(c.Structure):
    """What went wrong first in this worker; lane addresses as the kernel computed them."""

    _fields_ = [
        ("kind", c.c_int32),
        ("instruction", c.c_int32),
        ("warp", c.c_int32),
        ("lanes", c.c_uint32),
        ("ctaid", c.c_int32 * 3),
        ("bytes", c.c_int32),
        ("space", c.c_int32),
        ("unused", c.c_int32),
        ("address", c.c_uint64 * 32),
    ]


class BufferRange(c.Structure):
    """One allocation of device memory, [low, high); `touched` is a set of Touch bits.

    delta  host address = device address + delta;  own: whether that is memory of the device, which may be written, or
    still the host's array
    in_stretches  whether what it held must be put aside before a stretch is written: from `aside` on, and noted in
    aside_done, words in aside_even;  patience: how often more one that is there may be asked for (copy_on_write.py)
    """

    _fields_ = [
        ("low", c.c_uint64), ("high", c.c_uint64), ("touched", c.c_uint64), ("delta", c.c_int64), ("own", c.c_int64),
        ("in_stretches", c.c_int64), ("aside", c.c_void_p), ("aside_done", c.c_void_p), ("patience", c.c_int64),
        ("aside_even", c.c_void_p),
    ]  # fmt: skip


class Bounds(c.Structure):
    """The buffer, or the stretch of it, that a memory instruction used last: accesses at [low, low + span) are good;
    none at first.  `last` is the instruction's last address, `delta` the buffer's, `whole` the span that
    all of it would have."""

    _fields_ = [
        ("low", c.c_uint64), ("span", c.c_uint64), ("last", c.c_uint64), ("delta", c.c_int64), ("whole", c.c_uint64),
    ]  # fmt: skip


class WorkerEnv(c.Structure):
    """One worker's view of the launch."""

    _fields_ = [
        ("counters", c.c_void_p),
        ("rows", c.c_void_p),  # of the counters, one an instruction (counter_layout.py)
        ("bounds", c.c_void_p),
        ("buffers", c.c_void_p),
        ("buffer_count", c.c_int64),
        ("take", c.c_void_p),  # called with the number of a buffer that is about to be written for the first time
        ("bank", c.c_void_p * 8),
        ("bank_bytes", c.c_int64 * 8),
        ("tid", c.c_void_p),  # warp, xyz, lane: int32
        ("first_mask", c.c_void_p),  # lanes that exist, by warp: uint32
        ("grid", c.c_int32 * 3),
        ("block", c.c_int32 * 3),
        ("warps", c.c_int32),
        ("threads", c.c_int32),
        ("shared_bytes", c.c_int64),
        ("local_bytes", c.c_int64),
        ("warp_stride", c.c_int64),
        ("slice", c.c_int64),  # instructions in a warp's turn
        ("budget", c.c_int64),  # instructions a warp may execute
        ("turns", c.c_int64),  # turns a block may take before others run
        ("stop", c.c_void_p),  # int32, set to 1 by Python
        ("done", c.c_int64),  # blocks finished
        ("findings", c.c_void_p),  # of the checks, where one is on
        ("races", c.c_void_p),  # of --check races: what the workers share (race_state.GlobalShadow)
        ("driver", c.c_void_p),  # called for the driver's functions
        ("steps", c.c_void_p),  # threaded code by place in the kernel, and that of system calls (template.py)
        ("step_count", c.c_int64),
        ("far", c.c_int64),  # long steps: accesses a large part of a buffer away from the last of the instruction
        ("side_by_side", c.c_int64),  # whether a warp that asks what other blocks do ends its turn (sharing.py)
        ("asked", c.c_int64),  # turns that ended since a warp had asked what other blocks do
        ("log", c.c_void_p),  # of what warps issue, where that is recorded
        ("fault", Fault),
    ]


class ClusterState(c.Structure):
    """Blocks that reach each other's shared memory: their living threads, those that have arrived at its barrier, and
    how often it has opened."""

    _fields_ = [("live", c.c_int32), ("arrived", c.c_int32), ("phase", c.c_int32)]


class BlockState(c.Structure):
    """A resident block.  `need` is ALL_THREADS or the count that the barrier names.

    rank, window, cluster   where it has a cluster: its number there, where the shared memory of all its blocks begins,
    one behind the other, and the Cluster
    """

    _fields_ = [
        ("rank", c.c_int32),
        ("unused", c.c_int32),
        ("window", c.c_void_p),
        ("cluster", c.c_void_p),
        ("ctaid", c.c_int32 * 3),
        ("live", c.c_int32),  # threads that have not exited
        ("started", c.c_int32),
        ("status", c.c_int32),  # of one that goes abreast
        ("warps", c.c_void_p),
        ("shared", c.c_void_p),
        ("local", c.c_void_p),
        ("shadow", c.c_void_p),  # of --check races: the accesses to each unit of shared memory
        ("published", c.c_void_p),  # likewise, by barrier and warp: what those that have arrived had done
        ("written_shared", c.c_void_p),  # of --check init: which bytes have been written
        ("written_local", c.c_void_p),
        ("arrived", c.c_int32 * BARRIERS),
        ("need", c.c_int32 * BARRIERS),
        ("sum", c.c_int32 * BARRIERS),  # of the predicates brought to a reducing barrier
        ("lanes", c.c_int32 * BARRIERS),  # that brought one
        ("reduction", c.c_int32),  # what the last reducing barrier asks: Reduce
        ("result", c.c_int32 * 2),  # of it: the count, and whether all or any were true
    ]


class WarpState(c.Structure):
    """A warp's splits.  Registers are saved behind this record while it is not running."""

    _fields_ = [
        ("index", c.c_int32),
        ("status", c.c_int32),
        ("exec", c.c_uint32),  # the split to run next, as next_split gives it
        ("exited", c.c_uint32),  # and lanes that never were
        ("ready", c.c_int32),
        ("parked", c.c_int32),
        ("begun", c.c_int32),  # registers have been saved
        ("restored", c.c_uint32),  # barriers whose lanes were written back from a register
        ("asked", c.c_int32),  # what other blocks do (sharing.py), in this turn
        ("gave_way", c.c_uint32),  # lanes that gave way and wait for their turn, each for going on at its lane_pc
        ("away", c.c_uint32),  # those of them without whom a BSYNC may be passed
        ("turn", c.c_int32),  # the lane from which on one is looked for that gave way
        ("due", c.c_uint32),  # lanes whose turn came while they waited: nobody passes a BSYNC elsewhere without others
        ("called", c.c_uint32),  # lanes that counted as back when it was their turn, and have not run since
        ("jumps", c.c_int32),  # who goes on next takes no turn: its split parted by a jump, or stopped for other warps
        ("used", c.c_int64),  # instructions, in whole turns
        ("waiting", c.c_uint32 * WAIT_SLOTS),
        ("barrier", c.c_uint32 * WARPSYNC),  # lanes of each convergence barrier, in a kernel whose lanes give way
        ("missed", c.c_uint32 * WARPSYNC),  # of each: lanes without which it was passed, and that have not run since
        ("joined", c.c_uint32),  # barriers, by number, to which a BSSY has added lanes that others had set before
        ("buried", c.c_uint32),  # ready splits, by slot, that others were put above
        ("dug", c.c_int32),  # the place behind that of the split to run, if it was buried; else 0
        ("merged", c.c_int32),  # splits have been joined: lanes of one may have set a barrier at different times
        ("cluster_phase", c.c_int32),  # of the cluster's barrier when it last arrived there
        ("trying", c.c_uint32),  # lanes that execute an instruction again, which has been counted
        # What stands above is 0 when a block starts.
        ("ready_pc", c.c_int32 * READY_SLOTS),
        ("ready_mask", c.c_uint32 * READY_SLOTS),
        ("parked_pc", c.c_int32 * READY_SLOTS),
        ("parked_mask", c.c_uint32 * READY_SLOTS),
        ("parked_at", c.c_int32 * READY_SLOTS),
        ("lane_pc", c.c_int32 * 32),
        ("lane_need", c.c_uint32 * 32),
        ("lane_return", c.c_int32 * 32),
        ("order", c.c_void_p),  # of --check races: what the warp's lanes know to be done
    ]


HEADER = -(-c.sizeof(WarpState) // 64) * 64  # where the saved registers begin


class Touch:
    """Bits of Buffer.touched: how the kernel used an allocation."""

    READ = 1
    WRITE = 2
    ORDERED = 4  # atomics whose result or rounding depends on their order
    ADD, MIN, MAX, AND, OR, XOR = (8 << n for n in range(6))  # atomics that commute with their own kind
