"""Codegen context of the function being emitted: state pointers, active mask, successor blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from warplens import llvm
from warplens.core.cubin import Kernel
from warplens.core.program import Block, Constant, Instruction, Program
from warplens.emulator.access.gather_scatter import AccessRoutines
from warplens.emulator.access.pattern import Pattern
from warplens.emulator.access.trap import record_fault
from warplens.emulator.analysis.register_file import RegisterFile
from warplens.emulator.analysis.uniformity import ProgramPoint, UniformityFacts
from warplens.emulator.codegen.emitter import LlvmEmitter
from warplens.emulator.codegen.structured_builder import StructuredBuilder, i32, i64
from warplens.emulator.codegen.vector_types import I1, I32, I64, PTR, vector
from warplens.emulator.instrument.instrumentation import Instrumentation
from warplens.emulator.lowering.outlined_ops import OutlinedOps
from warplens.emulator.simt.simt_runtime import SimtRuntime
from warplens.emulator.state.counter_layout import CounterLayout
from warplens.emulator.state.structs import WHOLE, FaultKind, WarpState, WorkerEnv
from warplens.isa.dsl.decode import Binding
from warplens.isa.dsl.warp_interface import Space

ASK = 4096  # instructions that a time slice of a warp that polls other blocks costs its budget: an endless wait ends
# in seconds, and 200,000 work items may be taken from a queue

# run_divergent(env, block, warp, rest of the time slice, place, straight) -> Status
RUN_DIVERGENT = llvm.FunctionType(I32, [PTR, PTR, PTR, I64, I32, I32])


def number_of(place: ProgramPoint) -> int:
    """Dispatch number of a program point."""
    return place.first | (WHOLE if place.whole else 0)


class KernelContext(ABC):
    """Kernel context: properties common to all instructions of a module.

    large         whether long operations and accesses are outlined
    restores      whether convergence barriers are restored from registers
    uses_convergence_barriers  whether lanes wait for each other at convergence barriers
    may_yield     whether lanes may yield
    shares        whether warps poll other blocks in loops (sass/block_queue.py)
    """

    module: llvm.IRModule
    program: Program
    tile: int
    watch: Instrumentation
    runtime: SimtRuntime
    routines: AccessRoutines
    restores: bool
    uses_convergence_barriers: bool
    may_yield: bool
    shares: bool

    @property
    @abstractmethod
    def large(self) -> bool: ...

    @abstractmethod
    def usual(self, index: int, pattern: Pattern | None) -> Pattern | None:
        """The pattern, if its executions are counted separately: one pattern an instruction."""


class TranslationUnit(KernelContext):
    """Translation unit: one kernel of the compiled tier: its blocks, facts about registers, layout of counters.

    by_start, number  blocks, and their numbers, by their first instruction
    start             where a warp begins
    flow              successors of the blocks, by their first instructions
    divergence_points           where lanes may resume when a whole warp diverges
    """

    kernel: Kernel
    bindings: list[Binding | None]
    by_start: dict[int, Block]
    number: dict[int, int]
    shapes: UniformityFacts
    plan: CounterLayout
    start: ProgramPoint
    divergence_points: set[ProgramPoint]
    flow: Mapping[int, Sequence[int]]

    @abstractmethod
    def keeps_vectors_in_memory(self, diverged: bool) -> bool:
        """Whether vectors live in the save area between blocks (register_allocation.py)."""


class WarpBuilder:
    """Warp builder: a function of a running warp, with env, block and warp as its first arguments.

    exec, fuel, resume_at  locals: the running lanes, instructions left of the time slice, resume point
    straight  local: whether the split comes from a whole warp and continues at once, even if the time slice is over
    dispatch, suspend, done, fault  blocks that pop the next split, end the time slice, the warp, or the run
    """

    t: KernelContext
    exec: llvm.Value
    fuel: llvm.Value
    resume_at: llvm.Value
    straight: llvm.Value
    dispatch: llvm.BasicBlock
    suspend: llvm.BasicBlock
    done: llvm.BasicBlock
    fault: llvm.BasicBlock

    def __init__(self, context: KernelContext, function: llvm.Function) -> None:
        self.t = context
        self.function = function
        self.env, self.block, self.warp = function.args[:3]
        self.b = llvm.IRBuilder(function.append_basic_block("entry"))
        self.code = StructuredBuilder(self.b)

    def first_mask(self) -> llvm.Value:
        """The lanes that exist in this warp."""
        index = self.code.load(WarpState, self.warp, "index")
        return self.b.load(
            self.b.gep(self.code.load(WorkerEnv, self.env, "first_mask"), [index], source_etype=I32), typ=I32
        )

    def record_fault(
        self, kind: FaultKind, instruction: llvm.Value, lanes: llvm.Value | None = None, **fields: llvm.Value
    ) -> None:
        lanes = self.b.load(self.exec, typ=I32) if lanes is None else lanes
        place = {"instruction": instruction, "lanes": lanes}
        record_fault(self.code, self.env, self.block, kind, self.warp, **place, **fields)


class LoweredRegisters(RegisterFile, ABC):
    """Registers in generated code, and the numbers of operands."""

    @abstractmethod
    def number(self, kind: llvm.Type, value: int) -> llvm.Value:
        """A number in an operand."""

    @abstractmethod
    def indexed(self, at: Constant) -> llvm.Value:
        """The offset in its bank, of each lane where it has an index."""


class CodegenContext(WarpBuilder, ABC):
    """Codegen context: a warp function that executes instructions.

    counters  as in WorkerEnv
    wrapped   a block that ends the run because an index left 32 bits
    """

    registers: LoweredRegisters
    place: ProgramPoint  # the program point of this code
    diverged = False  # the code emitted now is for diverged lanes
    at: Instruction  # the instruction being lowered, and its lanes
    active: llvm.Value
    counters: llvm.Value
    wrapped: llvm.BasicBlock

    def __init__(self, context: KernelContext, function: llvm.Function) -> None:
        super().__init__(context, function)
        self.emitter = LlvmEmitter(self.b, context.tile)
        self.outlined_ops = OutlinedOps(context.module, context.large, context.tile)
        self.active = llvm.IRConstant(vector(I1), None)

    # Numbers that differ between instances of one template

    @abstractmethod
    def number(self, index: int) -> llvm.Value:
        """The number of an instruction, i32."""

    @abstractmethod
    def row(self, index: int, space: Space = "global") -> llvm.Value:
        """The address of an instruction's row of counters; of a generic access, for its lanes that reach a space."""

    @abstractmethod
    def hit(self, index: int) -> llvm.Value:
        """Address of the counter of its executions with the known access pattern."""

    # Successors

    @abstractmethod
    def go_on(self, index: int, origin: int) -> None:
        """Branches to the block at an instruction; a backward branch spends fuel, and may end the time slice."""

    @abstractmethod
    def go_on_converted(self, index: int) -> None:
        """Branches forward to a block whose register representation all lanes already have."""

    @abstractmethod
    def later(self, index: int, lanes: llvm.Value) -> llvm.Value:
        """The number of a program point at which these lanes will resume; the dispatcher gets a case for it."""

    def leaves_at(self, *places: int) -> bool:
        """Whether lanes that part here go on in run_divergent, at these instructions."""
        return False

    def leave_at(self, *places: int) -> None:
        """Branches to run_divergent, with the registers that are live at these instructions."""
        raise NotImplementedError

    @abstractmethod
    def all_later(self) -> None:
        """Lanes may resume at any program point."""

    @abstractmethod
    def spend_back(self, index: int, origin: int) -> llvm.Value:
        """Spends the fuel of a backward branch; whether it is used up."""

    def spend(self, way: llvm.Value) -> llvm.Value:
        """Spends the fuel of a backward branch over `way` instructions; whether it is used up.

        A warp that has polled other blocks ends its time slice, unless other splits of the warp are ready.
        """
        b, code = self.b, self.code
        b.store(b.sub(b.load(self.fuel, typ=I64), way), self.fuel)
        if self.t.shares:
            alone = b.icmp_signed("==", self.t.runtime.stack.count(code, self.warp), i32(0))
            with code.when(b.and_(alone, code.nonzero(code.load(WarpState, self.warp, "asked"))), likely=False):
                code.store(0, WarpState, self.warp, "asked")
                code.bump(code.field(WorkerEnv, self.env, "asked"))
                self.end_turn(ASK)
        return b.icmp_signed("<", b.load(self.fuel, typ=I64), i64(0))

    def end_turn(self, cost: int) -> None:
        """Ends the time slice: fuel is used up, and the warp's budget is charged `cost` more instructions."""
        b, code = self.b, self.code
        unspent = b.sub(b.load(self.fuel, typ=I64), i64(cost))
        code.bump(code.field(WarpState, self.warp, "waited"), cost + 1)
        code.store(b.sub(code.load(WarpState, self.warp, "used"), unspent), WarpState, self.warp, "used")
        b.store(i64(-1), self.fuel)

    @abstractmethod
    def wait_at(self, index: int) -> None:
        """Suspends a whole warp that waits for others; it resumes at an instruction."""

    @contextmanager
    def diverging(self) -> Iterator[None]:
        """The code emitted inside is for diverged lanes."""
        before, self.diverged = self.diverged, True
        yield
        self.diverged = before

    def fault_if(self, wrong: llvm.Value, kind: FaultKind, at: Instruction, **fields: llvm.Value) -> None:
        """Stops the run if a lane of the mask `wrong` is set."""
        with self.code.when(self.code.nonzero(wrong), likely=False):
            self.record_fault(kind, self.number(at.index), wrong, **fields)
            self.b.branch(self.fault)
