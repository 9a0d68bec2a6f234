"""Machine code to LLVM: one function that runs a warp until it ends, waits, or its turn is over."""

from __future__ import annotations

from llvmlite import ir

from warplens.emulator import abi
from warplens.emulator.code import Code, i32, i64
from warplens.emulator.convergence import split_blocks
from warplens.emulator.driver_calls import PLACES, READ, driver_block
from warplens.emulator.emit import LlvmEmitter
from warplens.emulator.layout import HEADER, Env, FaultKind, Status, Warp
from warplens.emulator.liveness import Name
from warplens.emulator.plan import ON, Plan, takes_condition
from warplens.emulator.record import record_fault
from warplens.emulator.registers import Registers, saved_space
from warplens.emulator.routines import Routines
from warplens.emulator.runtime import Runtime
from warplens.emulator.site import Windows
from warplens.emulator.vectors import I1, I32, I64, PTR, vector
from warplens.emulator.warp import TranslatedWarp
from warplens.emulator.watch import NO_CHECKS, Checks, Watch
from warplens.errors import UnsupportedInstruction
from warplens.isa._absent import absent
from warplens.isa._decode import Binding, bind
from warplens.kernel import Kernel
from warplens.program import Block as CodeBlock
from warplens.program import Instruction, Program, Register

# Where execution may go on after having stopped: anything may follow these.
RESUMING = {
    "BSYNC",
    "WARPSYNC",
    "BAR",
    "CALL",
    "RET",
    "BRX",
    "BRXU",
    "YIELD",
    "NANOSLEEP",
    "ENDCOLLECTIVE",
    "JMP",
}
ANYWHERE = {"RET", "BRX", "BRXU", "JMP", "ENDCOLLECTIVE"}


def unsupported(program: Program, instruction: Instruction) -> UnsupportedInstruction:
    place = f", {instruction.source.file}:{instruction.source.line}" if instruction.source else ""
    what = f"{instruction.opcode} {instruction.text}".strip()
    where = f"({program.arch}, {program.name} at {instruction.offset:#x}{place})"
    family = absent(instruction.base)
    if family:
        return UnsupportedInstruction(f"{what} {where}: {family} are not emulated; this kernel needs a GPU")
    return UnsupportedInstruction(f"no meaning for {what} {where}: add it to warplens/isa/")


def check_cluster(kernel: Kernel) -> None:
    if kernel.cluster > 1:
        raise UnsupportedInstruction(
            f"{kernel.name} ({kernel.arch}) runs in clusters of {kernel.cluster} blocks (__cluster_dims__): "
            "clusters of more than one block are not emulated; this kernel needs a GPU"
        )


def restores_barrier(instruction: Instruction) -> bool:
    """`BMOV.32 B6, R16`: the lanes of a convergence barrier come back from a register."""
    to = instruction.operands[0] if instruction.base == "BMOV" else None
    return isinstance(to, Register) and to.file == "B"


class Translator:
    """Builds the module of one kernel."""

    def __init__(self, kernel: Kernel, program: Program, checks: Checks = NO_CHECKS) -> None:
        check_cluster(kernel)
        self.kernel = kernel
        self.program = program
        self.plan = Plan(program)
        self.module = ir.Module(name=f"{program.name}.{program.arch}")
        self.watch = Watch(self.module, program, checks)
        self.runtime = Runtime(self.module, self.watch, 8 * self.plan.row(0))
        self.routines = Routines(self.module, Windows(abi.shared_base(program.arch), abi.STACK_TOP))
        self.bindings = [self._bind(i) for i in program.instructions]
        self.by_start = {block.first: block for block in program.blocks}
        self.number = {block.first: n for n, block in enumerate(program.blocks)}
        self.reached = self._reached()
        self.uses_meeting = any(i.base in ("BSYNC", "WARPSYNC") for i in program.instructions)
        self.restores = any(restores_barrier(i) for i in program.instructions)
        self.split = split_blocks(program)

    def _bind(self, instruction: Instruction) -> Binding | None:
        return bind(instruction)

    def _reached(self) -> set[int]:
        """Blocks that can be executed; behind the last EXIT or RET lies padding."""
        indirect = any(i.base in ANYWHERE for i in self.program.instructions)
        last = max((i.index for i in self.program.instructions if i.base in ("EXIT", "RET")), default=0)
        seen: set[int] = set()
        todo = [0] if not indirect else [b.first for b in self.program.blocks if b.first <= last]
        while todo:
            start = todo.pop()
            if start in seen or start not in self.by_start:
                continue
            seen.add(start)
            todo += self.by_start[start].successors
            todo.append(self.by_start[start].last + 1) if self._falls_through(self.by_start[start]) else None
        return seen

    def _falls_through(self, block: CodeBlock) -> bool:
        last = self.program.instructions[block.last]
        if last.guard is not None:
            return True
        return last.base not in ("EXIT", "RET", "BRX", "BRXU", "JMP") and not (
            last.base == "BRA" and last.opcode == "BRA" and len(last.operands) == 1
        )

    def build(self) -> ir.Module:
        function = ir.Function(self.module, ir.FunctionType(I32, [PTR, PTR, PTR]), "run_warp")
        function.linkage = "internal"
        function.attributes.add("nounwind")
        for argument in function.args:
            argument.add_attribute("noalias")
        WarpFunction(self, function).build()
        self.runtime.run_blocks(function)
        return self.module


class WarpFunction:
    """The body of run_warp(env, block, warp) -> Status."""

    def __init__(self, translator: Translator, function: ir.Function) -> None:
        self.t = translator
        self.function = function
        self.env, self.block, self.warp = function.args
        self.b = ir.IRBuilder(function.append_basic_block("entry"))
        self.code = Code(self.b)
        self.emitter = LlvmEmitter(self.b)
        self.blocks = {
            start: function.append_basic_block(f"at_{16 * start:x}") for start in sorted(translator.reached)
        }
        self.dispatch = function.append_basic_block("dispatch")
        self.suspend = function.append_basic_block("suspend")
        self.rest = function.append_basic_block("rest")
        self.fault = function.append_basic_block("fault")
        self.entries: set[int] = {0}
        self.exec = self.b.alloca(I32, name="exec")
        self.at = translator.program.instructions[0]  # the instruction that is being translated, and its lanes
        self.active: ir.Value = ir.Constant(vector(I1), None)
        self.fuel = self.b.alloca(I64, name="fuel")
        self.resume_at = self.b.alloca(I32, name="resume_at")
        self.registers = Registers(self.b, self.emitter)

    # Frame

    def build(self) -> None:
        b, code = self.b, self.code
        self.counters = code.load(Env, self.env, "counters")
        self.saved = code.at(self.warp, HEADER)
        b.store(code.load(Env, self.env, "slice"), self.fuel)
        again, fresh = (self.function.append_basic_block(n) for n in ("again", "fresh"))
        b.cbranch(code.nonzero(code.load(Warp, self.warp, "begun")), again, fresh)
        for start in sorted(self.t.reached):
            self._translate(self.t.by_start[start])
        self.live = self._live()
        self.driver = driver_block(self) if self.t.kernel.externs else None
        if self.driver:
            self.live |= READ
        b.position_at_end(fresh)
        self.registers.clear()
        b.branch(self.dispatch)
        b.position_at_end(again)
        self.registers.restore(code, self.saved, self.live)
        b.branch(self.dispatch)
        self._dispatch()
        self._suspend()
        self._rest()
        b.position_at_end(self.fault)
        b.ret(i32(Status.FAULT))

    def _live(self) -> set[Name]:
        """What a warp that stops must keep.  Jumps to computed places may lead anywhere."""
        everywhere = sorted(self.t.reached)
        successors: dict[int, list[int]] = {}
        for start in everywhere:
            block = self.t.by_start[start]
            last = self.t.program.instructions[block.last]
            behind = [block.last + 1] if block.last + 1 in self.t.reached else []
            successors[start] = everywhere if last.base in ANYWHERE else [*block.successors, *behind]
        live = self.registers.flow.live_at(self.entries, successors)
        return live | {name for name in self.registers.locals if name[0] == "B"}

    def _dispatch(self) -> None:
        """Take the next ready split and go to its place."""
        b, code = self.b, self.code
        b.position_at_end(self.dispatch)
        pc = b.call(self.t.runtime.next_split, [self.warp])
        b.store(code.load(Warp, self.warp, "exec"), self.exec)
        b.store(pc, self.resume_at)
        chosen = self.function.append_basic_block("chosen")
        b.cbranch(b.icmp_signed("<", pc, i32(0)), self.rest, chosen)
        b.position_at_end(chosen)
        spent = b.icmp_signed("<", b.load(self.fuel, typ=I64), i64(0))
        go = self.function.append_basic_block("go")
        b.cbranch(spent, self.suspend, go).set_weights([1, 1000])
        b.position_at_end(go)
        lost = self.function.append_basic_block("lost")
        switch = b.switch(pc, lost)
        for start in sorted(self.entries):
            switch.add_case(i32(start), self.blocks[start])
        for place in PLACES if self.driver else ():
            switch.add_case(i32(place), self.driver)
        b.position_at_end(lost)
        self.record_fault(FaultKind.BAD_JUMP, pc)
        b.branch(self.fault)

    def _suspend(self) -> None:
        """The turn is over: the split goes behind the others, registers are saved."""
        b, code = self.b, self.code
        b.position_at_end(self.suspend)
        pc = b.load(self.resume_at, typ=I32)
        b.call(self.t.runtime.push_last, [self.warp, pc, b.load(self.exec, typ=I32)])
        total = self._add_used()
        with code.when(b.icmp_signed(">", total, code.load(Env, self.env, "budget")), likely=False):
            self.record_fault(FaultKind.BUDGET, pc)
            b.branch(self.fault)
        self._save()
        b.ret(i32(Status.READY))

    def _rest(self) -> None:
        """No split is ready: the warp is done, or all that is left of it waits."""
        b, code = self.b, self.code
        b.position_at_end(self.rest)
        done = b.icmp_signed("==", code.load(Warp, self.warp, "exited"), i32(-1))
        with code.when(done, likely=True):
            b.ret(i32(Status.DONE))
        self._add_used()
        self._save()
        b.ret(i32(Status.WAITING))

    def _add_used(self) -> ir.Value:
        """The instructions that the warp has executed, those of this turn included."""
        b, code = self.b, self.code
        used = b.sub(code.load(Env, self.env, "slice"), b.load(self.fuel, typ=I64))
        total = b.add(code.load(Warp, self.warp, "used"), used)
        code.store(total, Warp, self.warp, "used")
        return total

    def _save(self) -> None:
        self.registers.save(self.code, self.saved, self.live)
        self.code.store(1, Warp, self.warp, "begun")

    def first_mask(self) -> ir.Value:
        """The lanes that exist in this warp."""
        index = self.code.load(Warp, self.warp, "index")
        return self.b.load(
            self.b.gep(self.code.load(Env, self.env, "first_mask"), [index], source_etype=I32), typ=I32
        )

    def record_fault(
        self, kind: FaultKind, instruction: ir.Value, lanes: ir.Value | None = None, **fields: ir.Value
    ) -> None:
        lanes = self.b.load(self.exec, typ=I32) if lanes is None else lanes
        place = {"instruction": instruction, "lanes": lanes}
        record_fault(self.code, self.env, self.block, kind, self.warp, **place, **fields)

    def fault_if(self, wrong: ir.Value, kind: FaultKind, at: Instruction, **fields: ir.Value) -> None:
        """Stops the run where a lane of the mask `wrong` is set."""
        with self.code.when(self.code.nonzero(wrong), likely=False):
            self.record_fault(kind, i32(at.index), wrong, **fields)
            self.b.branch(self.fault)

    # Blocks

    def _translate(self, block: CodeBlock) -> None:
        b, code = self.b, self.code
        b.position_at_end(self.blocks[block.first])
        self.registers.flow.begin(block.first)
        mask = b.load(self.exec, typ=I32)
        split = self.t.split[block.first]
        entry = self.t.plan.block(self.t.number[block.first])
        code.bump(code.at(self.counters, 8 * entry))
        code.bump(code.at(self.counters, 8 * entry + 8), b.zext(code.popcount(mask), I64))
        lanes = b.bitcast(mask, vector(I1))
        for index in range(block.first, block.last + 1):
            self._instruction(self.t.program.instructions[index], mask, lanes, split)
            if b.block.is_terminated:
                return
        self.go_on(block.last + 1, block.last)

    def _instruction(self, instruction: Instruction, mask: ir.Value, lanes: ir.Value, split: bool) -> None:
        binding = self.t.bindings[instruction.index]
        if binding is None:
            raise unsupported(self.t.program, instruction)
        if instruction.base == "NOP":
            self.t.watch.meet(self.code, self.warp, mask)  # what is left of a __syncwarp() of lanes that are together
            return
        b = self.b
        guard = instruction.guard
        condition = None if guard is None else self.registers.predicate(guard)
        active = lanes if condition is None else b.and_(lanes, self.emitter.splat(condition))
        self.at, self.active = instruction, active
        row = self.t.plan.row(instruction.index)
        if condition is not None and not takes_condition(instruction):
            on = b.zext(self.code.popcount(b.bitcast(active, I32)), I64)
            self.code.bump(self.code.at(self.counters, 8 * (row + ON)), on)
        warp = TranslatedWarp(self, instruction, mask, lanes, active, condition, split)
        arguments = [
            self.registers.read(kind, operand, self, instruction) for kind, operand in binding.sources
        ]
        if binding.op.takes_warp:
            arguments.insert(0, warp)
        result = binding.op.body(*arguments, **binding.modifiers)
        if binding.op.results:
            # A split must not disturb the registers of the lanes that are elsewhere.
            keep = active if condition is not None or split else None
            results = result if isinstance(result, tuple) else (result,)
            for target, value in zip(binding.targets, results, strict=True):
                if target is not None:
                    self.registers.write(target, value, keep, condition)

    # Going from block to block

    def go_on(self, index: int, origin: int) -> None:
        """To the block that starts at an instruction; backwards costs fuel, and may end the turn."""
        b = self.b
        if index not in self.blocks:
            self.record_fault(FaultKind.BAD_JUMP, i32(origin))
            b.branch(self.fault)
            return
        if index > origin:
            b.branch(self.blocks[index])
            return
        self.entries.add(index)
        b.store(i32(index), self.resume_at)
        spent = self.spend(origin - index + 1)
        b.cbranch(spent, self.suspend, self.blocks[index]).set_weights([1, 10000])

    def spend(self, instructions: int) -> ir.Value:
        """Takes fuel; whether it is used up."""
        b = self.b
        left = b.sub(b.load(self.fuel, typ=I64), i64(instructions))
        b.store(left, self.fuel)
        return b.icmp_signed("<", left, i64(0))

    def later(self, index: int) -> ir.Value:
        """A place as number, noted as one that the dispatcher must know."""
        if index in self.blocks:
            self.entries.add(index)
        return i32(index)

    def all_later(self) -> None:
        self.entries.update(self.blocks)


def saved_bytes(program: Program) -> int:
    """Bytes of a warp's record with its saved registers."""
    return HEADER + saved_space(program)
