"""Execution structures: ctypes records shared by Python and generated code, which accesses fields by offset."""

from __future__ import annotations

import ctypes as c
from enum import IntEnum

READY_SLOTS = 32  # a split has at least one lane
WAIT_SLOTS = 19  # B0 to B15, WARPSYNC, WARPSYNC.ALL, WARPSYNC.COLLECTIVE
WARPSYNC, FULL_WARP, COLLECTIVE = 16, 17, 18
BARRIERS = 17  # 16 of BAR, and the cluster's
ALL_THREADS = -1
WARPGROUP_WARPS = 4
TENSOR_FUNCTIONS = 8
CLUSTER_BLOCKS = 16  # at most
MBARRIERS_KEPT = 64  # of a block, for the report of one that hangs; a multiple of 2
# A pc, as the stack and resume_pc hold it: the number of an instruction, and these bits.
WHOLE = 1 << 20  # the copy of the code for a whole warp
INSTRUCTION = WHOLE - 1
ISSUES_AGAIN = WHOLE << 1  # the split reissues the BSYNC before its pc; the bits above number the barrier;
# the pcs of system calls (syscall_stub.py) are greater than all of these, without this bit
AT_JUMP = 1 << 30  # the split has not issued the jump to its pc yet
EARLIER = WHOLE << 2  # in collective_pc: the lane was not among the last to arrive at a WARPSYNC.COLLECTIVE


class Status(IntEnum):
    """Status: result of running a warp or a block for a time slice."""

    READY = 0  # its time slice is over, with work left
    WAITING = 1  # every split waits at a block barrier
    DONE = 2
    FAULT = 3
    STOPPED = 4  # requested by the user


class Reduce(IntEnum):
    POPC = 0
    AND = 1
    OR = 2


class MbarrierChange(IntEnum):
    """Change of an mbarrier: what an instruction does to it."""

    INITIALIZED = 0
    ARRIVED = 1  # threads, or bytes that it now expects
    COPIED = 2  # bytes have arrived


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
    DRIVER = 9  # reported by a system call
    WRAPPED = 10  # no kernel fault: an index left 32 bits, which compiled code assumes cannot happen
    NO_TEXTURE = 11  # a handle of no texture or surface object, or one whose memory is freed
    OFF_SURFACE = 12  # beyond the edges of a surface, in trap mode
    NO_TENSOR_MAP = 13  # 128 bytes that are no map of these dimensions
    MISPLACED_BOX = 14  # in shared memory, not at a multiple of 128 bytes
    UNALIGNED_BOX = 15  # in the tensor, not at a multiple of 16 bytes
    BOX_AHEAD = 16  # stored where the tensor has not begun
    WRONG_REGISTERS = 17  # setmaxnreg to more registers than a warp can give back, or fewer than it has
    TENSOR_COLUMN = 18  # of tensor memory that is not allocated
    TENSOR_RANGE = 19  # beyond the 512 columns
    TENSOR_LANE = 20  # of another warp's quarter
    TENSOR_SIZE = 21  # columns asked for: no power of two from 32 to 512
    TENSOR_KEPT = 22  # tensor memory that a block has not freed
    TENSOR_FORM = 23  # of a product: what its descriptor says is none, or none that is executed
    TENSOR_PEER = 25  # of a pair of blocks the other has not started, or there is none
    TENSOR_RESULT = 24  # of a product: it does not start at lane 0, or 16 of 64 rows


class Fault(c.Structure):
    """Fault record: the first fault in this worker; lane addresses as the kernel computed them."""

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
        ("tensor_map", c.c_uint64),  # address of the map that the last copy of a box was by
    ]


class BufferRange(c.Structure):
    """Buffer range: one allocation of device memory, [low, high); `touched` is a set of Touch bits.

    delta  host address = device address + delta;  own: whether that is device memory, which may be written, or still
    the host's array
    in_chunks  whether a chunk must be backed up before it is written: data to `backup`, state to saved_chunks, words
    to repeated_words;  patience: how many more hits of saved chunks are allowed (copy_on_write.py)
    """

    _fields_ = [
        ("low", c.c_uint64), ("high", c.c_uint64), ("touched", c.c_uint64), ("delta", c.c_int64), ("own", c.c_int64),
        ("in_chunks", c.c_int64), ("backup", c.c_void_p), ("saved_chunks", c.c_void_p), ("patience", c.c_int64),
        ("repeated_words", c.c_void_p),
    ]  # fmt: skip


class Bounds(c.Structure):
    """Bounds cache: the buffer, or chunk of it, that a memory instruction used last: accesses in [low, low + span) are
    valid; none at first.  `last` is the instruction's last address, `delta` the buffer's, `whole` the span of the
    whole buffer."""

    _fields_ = [
        ("low", c.c_uint64), ("span", c.c_uint64), ("last", c.c_uint64), ("delta", c.c_int64), ("whole", c.c_uint64),
    ]  # fmt: skip


class Footprint(c.Structure):
    """Footprint: maps with a bit for each word of global memory from `low` on that a worker reads, or writes."""

    _fields_ = [("low", c.c_int64), ("span", c.c_int64), ("read", c.c_void_p), ("written", c.c_void_p)]


class WorkerEnv(c.Structure):
    """Worker environment: one worker's view of the launch."""

    _fields_ = [
        ("counters", c.c_void_p),
        ("rows", c.c_void_p),  # of the counters, one an instruction (counter_layout.py)
        ("bounds", c.c_void_p),
        ("buffers", c.c_void_p),
        ("buffer_count", c.c_int64),
        ("take", c.c_void_p),  # called with a buffer's number before its first write
        ("bank", c.c_void_p * 8),
        ("bank_bytes", c.c_int64 * 8),
        ("tid", c.c_void_p),  # warp, xyz, lane: int32
        ("first_mask", c.c_void_p),  # lanes that exist, by warp: uint32
        ("grid", c.c_int32 * 3),
        ("block", c.c_int32 * 3),
        ("warps", c.c_int32),
        ("threads", c.c_int32),
        ("registers", c.c_int32),  # a thread that the launch begins with
        ("shared_bytes", c.c_int64),
        ("reserved_bytes", c.c_int64),  # of these the first, if they are the driver's
        ("local_bytes", c.c_int64),
        ("warp_stride", c.c_int64),
        ("slice", c.c_int64),  # instructions in a warp's time slice
        ("budget", c.c_int64),  # instructions a warp may execute
        ("turns", c.c_int64),  # rounds of time slices a block may take before others run
        ("stop", c.c_void_p),  # int32, set to 1 by Python
        ("done", c.c_int64),  # blocks finished
        ("findings", c.c_void_p),  # of the checks, where one is on
        ("races", c.c_void_p),  # of --check races: state shared by the workers (race_state.GlobalShadow)
        ("footprint", c.c_void_p),  # a Footprint, for code that marks it
        ("driver", c.c_void_p),  # called for system calls
        ("threaded_ops", c.c_void_p),  # of each program point, then that of system calls (template.py)
        ("threaded_op_count", c.c_int64),
        ("far", c.c_int64),  # accesses far, relative to the buffer's size, from the last one of their instruction
        ("side_by_side", c.c_int64),  # whether a warp that polls other blocks ends its time slice (sass/block_queue.py)
        ("asked", c.c_int64),  # time slices that ended because a warp had polled other blocks
        ("log", c.c_void_p),  # of issued instructions, when recording
        ("textures", c.c_void_p),  # descriptors of texture and surface objects (core/texture_descriptor.py)
        ("texture_count", c.c_int64),
        ("fetch_texture", c.c_void_p),  # machine code (emulator/texture)
        ("locate_surface", c.c_void_p),
        ("longest_warp", c.c_int64),  # instructions of the longest warp that is done, in loops; LONG_WARP at first
        ("longest_block", c.c_int64),  # number of its block; -1 at first
        (
            "block_instructions",
            c.c_int64,
        ),  # address: of each block's instructions in loops of warps that are done; or 0
        ("begin_box", c.c_void_p),  # machine code (emulator/bulk)
        ("advance_box", c.c_void_p),
        ("tensor_code", c.c_void_p * TENSOR_FUNCTIONS),  # likewise (emulator/tensor_memory)
        ("tensor_scratch", c.c_void_p),
        ("fault", Fault),
    ]


class ClusterState(c.Structure):
    """Cluster state: live threads, threads arrived at its barrier, how often the barrier has opened, and the records of
    the blocks by rank, those that have started."""

    _fields_ = [
        ("live", c.c_int32), ("arrived", c.c_int32), ("phase", c.c_int32), ("blocks", c.c_void_p * CLUSTER_BLOCKS),
    ]  # fmt: skip


class BlockState(c.Structure):
    """Block state: a resident block.  `need` is ALL_THREADS or the count that the barrier names.

    rank, window, cluster   in a cluster: its rank, the start of the contiguous shared memory of all its blocks, and
    the ClusterState
    """

    _fields_ = [
        ("rank", c.c_int32),
        ("unused", c.c_int32),
        ("window", c.c_void_p),
        ("cluster", c.c_void_p),
        ("ctaid", c.c_int32 * 3),
        ("live", c.c_int32),  # threads that have not exited
        ("started", c.c_int32),
        ("status", c.c_int32),  # of a block that is interleaved with others
        ("warps", c.c_void_p),
        ("shared", c.c_void_p),
        ("local", c.c_void_p),
        ("shadow", c.c_void_p),  # of --check races: the accesses to each unit of shared memory
        ("published", c.c_void_p),  # likewise, by barrier and warp: happens-before state of arrived warps
        ("written_shared", c.c_void_p),  # of --check init: which bytes have been written
        ("written_local", c.c_void_p),
        ("tensor", c.c_void_p),  # tensor memory: 128 lanes of 512 words
        ("arrived", c.c_int32 * BARRIERS),
        ("need", c.c_int32 * BARRIERS),
        ("sum", c.c_int32 * BARRIERS),  # of the predicates at a reducing barrier
        ("lanes", c.c_int32 * BARRIERS),  # that contributed a predicate
        ("reduction", c.c_int32),  # of the last reducing barrier: a Reduce
        ("result", c.c_int32 * 2),  # its count, and whether all or any were true
        ("mbarriers", c.c_uint32 * (MBARRIERS_KEPT * len(MbarrierChange))),  # by change: addresses of some, and which
        ("mbarriers_changed_at", c.c_int32 * (MBARRIERS_KEPT * len(MbarrierChange))),  # instruction last did so
        ("spare_registers", c.c_int32),  # a thread, that warps have given back (setmaxnreg)
        ("tensor_slots", c.c_uint32),  # that are allocated, of 32 columns each
    ]


class SimtStackState(c.Structure):
    """SIMT stack: the splits of a warp that can run, each a pc and a lane mask (simt_stack.py).

    count            splits on the stack; set by pushes, pops, gather; read by all that ask whether others can run
    stale_slots      slots that another split was pushed over, which run with all lanes of the warp at their pc; set by
                     push_and_stale, cleared when popped or gathered; read by pop
    popped_stale_pc  1 + pc of the running split if it was popped from a stale slot, else 0; set by pop; cleared by the
                     next pop and by BSYNC; read by BSYNC (rejoin) and at the end of a time slice
    merged           splits have been joined, so lanes of one may have set a barrier at different times; set by gather,
                     WARPSYNC; never cleared; read by BSYNC
    pop_keeps_turn   the next pop is no choice between lanes: the split has just diverged or its time slice ended; set
                     by divergent branches and at the end of a time slice; cleared and read by YieldedLanes.taken
    """

    _fields_ = [
        ("pc", c.c_int32 * READY_SLOTS),
        ("mask", c.c_uint32 * READY_SLOTS),
        # From here on to BarrierState.need, all is 0 when a block starts.
        ("count", c.c_int32),
        ("stale_slots", c.c_uint32),
        ("popped_stale_pc", c.c_int32),
        ("merged", c.c_int32),
        ("pop_keeps_turn", c.c_int32),
    ]


class YieldState(c.Structure):
    """Yields: lanes that gave up the processor at YIELD or NANOSLEEP, scheduled round robin (yielded_lanes.py).

    yielded       lanes that yielded and resume at their resume_pc; set by YIELD; cleared when they are taken
    bypassable    yielded lanes without which a BSYNC may be passed; set by YIELD; cleared when they run or are resumed
    turn          number of the lane from which the round-robin search starts; set by every pop that is a choice
    turn_pending  lanes whose turn came while they waited: until they run, no other BSYNC is passed without lanes; set
                  by a BSYNC that skipped lanes; cleared when they run, by YIELD on an empty stack; read by BSYNC
    resumed       lanes whose turn came and that have not run since; set by mark_resumed; cleared when they run; read by
                  BSYNC to decide whether it issues again
    """

    _fields_ = [
        ("yielded", c.c_uint32),
        ("bypassable", c.c_uint32),
        ("turn", c.c_int32),
        ("turn_pending", c.c_uint32),
        ("resumed", c.c_uint32),
    ]


class BarrierState(c.Structure):
    """Convergence barriers and WARPSYNC (convergence_barrier.py).  A slot is B0 to B15 or a kind of WARPSYNC.

    waiting   lanes suspended at each slot; set on arrival; cleared on release; read by BSYNC, EXIT, BREAK, YIELD
    lanes     lanes of each barrier, in kernels whose lanes yield (else a register holds them); set by BSSY, BMOV;
              cleared by BSYNC when it is passed; reduced by BREAK
    skipped   lanes without which each barrier was last passed; set by BSYNC; cleared when they run and by BSSY, BMOV
    extended  barriers, a bit each, to which a BSSY added lanes that others had set before; set and cleared by BSSY
    restored  barriers, a bit each, written from a register; set by BMOV, cleared by BSSY; their BSYNC issues twice
    need      lanes that each waiting lane waits for; set on arrival; reduced by BREAK
    collective_pc  where each lane resumes after WARPSYNC.COLLECTIVE; set there, read at its end
    """

    _fields_ = [
        ("waiting", c.c_uint32 * WAIT_SLOTS),
        ("lanes", c.c_uint32 * WARPSYNC),
        ("skipped", c.c_uint32 * WARPSYNC),
        ("extended", c.c_uint32),
        ("restored", c.c_uint32),
        # What comes before, from SimtStackState.count on, is 0 when a block starts.
        ("need", c.c_uint32 * 32),
        ("collective_pc", c.c_int32 * 32),
    ]


class WarpState(c.Structure):
    """Warp state: running split, other splits, suspended lanes.  Saved registers follow this record."""

    _fields_ = [
        ("stack", SimtStackState),
        ("index", c.c_int32),
        ("used", c.c_int64),  # instructions executed, in whole time slices; read for the budget and the clock
        ("waited", c.c_int64),  # the part of `used` that waits were charged
        ("status", c.c_int32),
        ("exec", c.c_uint32),  # lanes of the running split; set by next_split
        ("exited", c.c_uint32),  # lanes that have exited or never existed; set by EXIT
        ("begun", c.c_int32),  # registers have been saved: the warp resumes; set at the end of a time slice
        ("asked", c.c_int32),  # it has polled other blocks (sass/block_queue.py); cleared when its time slice ends so
        ("reissued", c.c_uint32),  # lanes that reissue an instruction already counted; cleared on entry
        ("parked", c.c_int32),  # splits at block barriers; set by BAR, cleared when the barrier opens
        ("cluster_phase", c.c_int32),  # of the cluster's barrier at the warp's last arrival
        ("mbarrier", c.c_uint32),  # at whose phase it last looked: an address
        ("returned_registers", c.c_int32),  # a thread, that the warp has given back; negative: received
        ("product_groups", c.c_int32),  # of wgmma, that the warp has committed (simt/product_groups.py)
        ("yielding", YieldState),
        ("barriers", BarrierState),
        ("resume_pc", c.c_int32 * 32),  # of each suspended lane; set by YIELD, BSYNC, WARPSYNC; kept after it resumes
        ("parked_pc", c.c_int32 * READY_SLOTS),
        ("parked_mask", c.c_uint32 * READY_SLOTS),
        ("parked_at", c.c_int32 * READY_SLOTS),  # number of the block barrier
        ("order", c.c_void_p),  # of --check races: happens-before state of the warp
    ]


ZEROED_FROM = WarpState.stack.offset + SimtStackState.count.offset
ZEROED_TO = WarpState.barriers.offset + BarrierState.need.offset  # bytes of a warp's record that are 0 at its start
HEADER = -(-c.sizeof(WarpState) // 64) * 64  # where the saved registers begin


class Touch:
    """Touch: bits of BufferRange.touched: how the kernel used an allocation."""

    READ = 1
    WRITE = 2
    ORDERED = 4  # atomics whose result or rounding depends on their order
    ADD, MIN, MAX, AND, OR, XOR = (8 << n for n in range(6))  # atomics that commute with their own kind
