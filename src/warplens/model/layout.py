"""Where things stand in the arrays that go into and come out of the simulation of a multiprocessor."""

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
