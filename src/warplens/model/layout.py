"""Array layout: column and slot indices of the SM simulation's inputs and outputs."""

from __future__ import annotations

from warplens.machine.parameter import assumed

# Instruction kinds
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
# Columns of the instruction table
(STALL, SETS, FREES, WAITS, PIPE, KIND, BYTES, DEPTH, NUMBER, NEED, OTHER, ALSO, LATE, TIMELY, STAYS, READS) = range(16)
# OTHER: 1 for an atomic that adds floats, and for a load that bypasses L1
# ALSO: second pipe that it occupies, 0: none
# LATE, TIMELY: the late result of the one takes an issue slot of the other (pipes.py)
# STAYS: 1 if the scheduler should stay with the same warp
# READS and following: registers that an instruction reads in each bank, then the same after another warp has issued
BANKS = 2  # of registers
COLUMNS = READS + 2 * BANKS
# Stall reasons, in Nsight Compute's terms
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
WAYS = assumed(16, "lines of a set", "no trial reads the sets of L1 and L2")
FMA_LITE, FMA_HEAVY, ALU = 1, 2, 3  # defined: numbers of pipes
PIPES = 16  # defined: capacity
SCOREBOARDS = 6  # defined: encoding
BLOCK_BARRIERS = 16  # defined: PTX
GROUPS = 8  # asynchronous copy groups that are tracked; defined: capacity
CODE_LINE = 8  # defined: instructions in 128 bytes
NEVER = 1e18  # defined: later than all cycles
LOCAL_BASE = 1 << 33  # defined: line numbers of local memory, above all others
