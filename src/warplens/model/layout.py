"""Where things stand in the arrays that go into and come out of the simulation of a multiprocessor.  F5."""

from __future__ import annotations

# Kinds of instruction
(
    FIXED,
    VARIABLE,
    LOAD,
    STORE,
    ATOMIC,
    REDUCE,
    COPY,
    GROUP,
    GROUP_WAIT,
    BARRIER,
    ARRIVE,
    FENCE,
    EXCHANGE,
    TABLE,
    END,
    TELL,
) = range(16)
# Columns of the code
(STALL, SETS, FREES, WAITS, PIPE, KIND, BYTES, DEPTH, NUMBER, NEED, OTHER, ALSO, LATE, TIMELY, STAYS, READS) = range(16)
# OTHER: 1 for an atomic that adds floats, and for a load past L1
# ALSO: a pipe that it takes as well, 0: none
# LATE, TIMELY: the result of the one takes a place from the other (pipes.py)
# STAYS: 1 if the scheduler had better go on with the same warp
# READS and what follows it: registers that an instruction reads in each bank, then likewise behind another warp's
BANKS = 2  # of registers
COLUMNS = READS + 2 * BANKS
# Why a warp does not issue, in Nsight Compute's words
REASONS = (
    "selected", "wait", "long_scoreboard", "short_scoreboard", "barrier", "math_pipe_throttle", "lg_throttle",
    "mio_throttle", "not_selected", "branch_resolving", "no_instruction", "membar", "dispatch_stall", "drain",
)  # fmt: skip
(
    SELECTED,
    WAIT,
    LONG,
    SHORT,
    AT_BARRIER,
    MATH,
    LG,
    MIO,
    NOT_SELECTED,
    BRANCHING,
    NO_INSTRUCTION,
    MEMBAR,
    DISPATCH,
    DRAINING,
) = range(14)
# Settings, by place
(
    QUEUE, LSU_ISSUE, GLOBAL_REQUEST, SHARED_REQUEST, IN_FLIGHT, L2_PORT, L2_READ, L2_WRITE, DRAM_READ, DRAM_WRITE,
    LAT_SHARED, LAT_L1, LAT_L2, LAT_DRAM, LAT_SHARED_ATOMIC, LAT_ATOMIC, LAT_BARRIER, LAT_BRANCH, LAT_STORE, LAT_FENCE,
    LAT_CODE, ATOMIC_WORD, ATOMIC_SECTOR, FIRST_BLOCK, BLOCK_START, BLOCK_END, L1_BYTES, IDEAL_ACCESS, IDEAL_BANKS,
    BARRIER_CYCLES, ATOMIC_SHARE, ATOMIC_LONE, MISS_REQUEST, WARP_START, STORE_SLACK,
    DRAM_SPREAD, DRAM_TURN, FULL_WARPS, LINE_READ, LINE_WRITE,
    TABLE_WORD, TABLE_REPLAY, LATE_NEAR, LATE_FAR, LONE_HALF, DRAM_QUEUE,
    TABLE_LINE, LAT_TABLE, LAT_TABLE_FIRST, TABLE_ALONE, STORE_LINES,
    ATOMIC_PIECE, ATOMIC_REPLY, ATOMIC_HALF, BLOCK_REPORT, UPDATES_IN_FLIGHT, TURN_GROWTH, WAVE, FIRST_PLACED, HALVES,
    LONE_SECTOR, SCATTER,
) = range(62)  # fmt: skip
SETTINGS = SCATTER + 8  # defined: percentiles from SCATTER on
# What is counted
(
    CYCLES, ISSUED, L1_SECTORS, L1_HITS, L2_READS, L2_WRITES, L2_MISSES, LSU_BUSY, LAST_STORE, L2_UPDATES,
    L2_PIECES, L2_IN_PIECES, L1_MERGED, L2_LOST, L2_FILLED, L2_REWRITTEN, L2_SENT, L2_JOINED,
) = range(18)  # fmt: skip
COUNTS = 18  # defined: all of these
# What serves accesses: until when each is taken (cycles), and what else is remembered between accesses
(
    LSU, PORT, L2_OUT, DRAM, L2_IN, ATOMICS, BARRIERS, L1_CLOCK, WAITED_FOR, TABLES, READ_WORK, WRITE_WORK,
    TABLE_CLOCK, TABLE_LINES, STORED_LINES, REPORTS, UPDATED, DRAM_IN, COME, STORED, STARTS, TAGS,
) = range(22)  # fmt: skip
SERVERS = TAGS + 4  # defined: one for each bank of tags
WAYS = 16  # assumed: of L1 and L2
FMA_LITE, FMA_HEAVY, ALU = 1, 2, 3  # defined: numbers of pipes
PIPES = 16  # defined: room
ALSO_CYCLES = 2  # for which an instruction takes the second pipe, at the end of its time in the first
SCOREBOARDS = 6  # defined: encoding
BLOCK_BARRIERS = 16  # defined: PTX
GROUPS = 8  # of asynchronous copies that are remembered; defined: room
CODE_LINE = 8  # defined: instructions in 128 bytes
NEVER = 1e18  # defined: behind all cycles
LOCAL_BASE = 1 << 33  # defined: numbers of lines of local memory, behind all others
