"""Device: the GPU as one process of the program sees it: memory, modules, launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from warplens.control_characters import visible
from warplens.counters.occupancy import occupancy
from warplens.emulator import LaunchRequest, available_threads
from warplens.emulator import run as execute
from warplens.emulator.state.abi import CALL_STACK
from warplens.emulator.state.structs import FaultKind
from warplens.errors import CubinError, DynamicParallelism, KernelFault, UnsupportedInstruction, UsageError
from warplens.program.arena import OUTSIDE, Arena, ArenaMemory
from warplens.program.launch_log import LaunchLog
from warplens.program.linker import link
from warplens.program.loaded_module import ImageError, LaunchConfiguration, LoadedFunction, LoadedModule
from warplens.program.memo.launch_memo import LaunchMemo, Touched
from warplens.program.program_options import Options
from warplens.program.protocol import (
    ACCESS,
    DEFER,
    DEFERRAL,
    DEFERRED,
    GLOBAL,
    LAUNCHED,
    LOADED,
    OCCUPANCY,
    REPEATABLE,
    REPEATED,
    TOUCHED,
    WORD,
    BlockAccess,
    LaunchMessage,
    Notice,
    NoticeKind,
    Status,
    known,
)  # fmt: skip
from warplens.program.saved_launch import MOST_STACK, SaveRequest, save
from warplens.program.timing.l2_history import L2History
from warplens.program.timing.predicted_launch import LaunchTime, TimedLaunch
from warplens.program.timing.time_prediction import MOST, MOST_GRIDS, TimePredictor
from warplens.report.program_view import INTO, OUT_OF, WITHIN, SavedFile
from warplens.run import Run

FAULTS = {
    "STRAY": Status.ILLEGAL_ADDRESS,
    "STRAY_CONSTANT": Status.ILLEGAL_ADDRESS,
    "MISALIGNED": Status.MISALIGNED,
    "BUDGET": Status.TIMEOUT,
    "DEADLOCK": Status.TIMEOUT,
    "BAD_JUMP": Status.INVALID_PC,
    "DRIVER": Status.ASSERT,
    "NO_TENSOR_MAP": Status.ILLEGAL_INSTRUCTION,
    "BOX_AHEAD": Status.ILLEGAL_INSTRUCTION,
    "UNALIGNED_BOX": Status.ILLEGAL_INSTRUCTION,
}
"""What a program sees of a fault, by its kind; of the others, "unspecified launch failure"."""
COPIES = {1: INTO, 2: OUT_OF, 3: WITHIN, 5: "fill"}  # shim/copy.c
COPY_KIND, PAGEABLE = 0xFF, 0x100  # of what a notice of a copy says in `detail`: shim/protocol.h
Answer = tuple[int, bytes]


@dataclass(frozen=True)
class PureLaunch:
    """Pure launch: one that may be repeated, as long as what it touches is as it was.

    share   of the GPU that its grid occupies;  repeatable: at once, since it writes nothing that it reads
    """

    timed: TimedLaunch
    share: float
    repeatable: bool
    touched: Touched

    def answer(self, number: int, time: LaunchTime, l2: int, deferred: bool = False) -> bytes:
        """To the program, but for what the kernel printed.

        number   in the log;  l2: state of L2 then;  deferred: whether results are not in memory yet
        """
        blocks, written = self.touched.all, self.touched.written
        flags = REPEATABLE * self.repeatable | DEFERRED * deferred
        head = LAUNCHED.pack(time.nanoseconds, self.share, 0, number, flags, len(blocks), l2)
        return head + b"".join(TOUCHED.pack(block, block in written, 0) for block in sorted(blocks))


class Device:
    """Device: answers the requests of one process."""

    def __init__(self, options: Options, log: LaunchLog, process: int) -> None:
        self.process = process
        self.gpu, self.budget, self.log = options.gpu, options.budget, log
        self.arena = Arena(1) if log.check.on else Arena()
        self.predictor = TimePredictor(options.gpu)
        self.memo = LaunchMemo(self.arena, options.memo)
        self.deferred = self.memo.deferred
        self.l2 = L2History(options.gpu)
        self._launches: dict[int, PureLaunch] = {}  # by number in the log
        self._copied_from = 0
        self._left: list[int] = []  # blocks that go with their context
        self.modules: dict[int, LoadedModule] = {}
        self.functions: dict[int, LoadedFunction] = {}
        self.saves, self.archive = options.saves, options.archive
        self.stack_bytes = CALL_STACK
        self.banned = False  # after a fault nothing is executed any more

    def close(self) -> None:
        self.modules.clear()
        self.functions.clear()
        self.arena.close()

    def notice(self, notice: Notice) -> None:
        match notice.kind:
            case NoticeKind.ALLOCATED:
                self.arena.add(notice.address, notice.size, notice.detail)
                self.memo.names.changed(notice.address)
            case NoticeKind.FREED:
                if notice.more:
                    self._left.append(notice.address)
                else:
                    self.arena.remove(notice.address)
                self.memo.names.changed(notice.address)
            case NoticeKind.UNSYNCHRONIZED if block := self.arena.blocks.get(notice.address):
                self.log.check.unsynchronized(block.name)
            case NoticeKind.MISUSED:
                self.log.check.misdirected(notice.detail, notice.size)
            case NoticeKind.WRITTEN:
                self.arena.unwritten.discard(notice.address)
                self.memo.names.changed(notice.address)
            case NoticeKind.FILLED:
                self.memo.names.put(
                    notice.address, self.memo.names.of_fill(notice.address, notice.more, notice.detail)
                )
            case NoticeKind.DUPLICATED:
                self.memo.names.duplicate(notice.address, notice.more)
            case NoticeKind.REPEATED:
                self._repeat(notice.detail)
            case NoticeKind.MOVED_FROM:
                self._copied_from = notice.address
            case NoticeKind.COPIED if notice.detail & COPY_KIND in COPIES:
                kind, pageable = notice.detail & COPY_KIND, bool(notice.detail & PAGEABLE)
                self.log.copied(self.process, COPIES[kind], notice.size, notice.more, pageable)
                self.l2.copy(kind, self._copied_from, notice.address, notice.size)
            case NoticeKind.TIMED:
                place = self.process, 0 if notice.size & 1 else notice.detail, notice.size >> 1
                self.log.timed(place, notice.address, notice.more)
            case NoticeKind.MAPPED:
                self.arena.add(notice.address, notice.size, notice.detail, content=notice.more)
                self.memo.names.changed(notice.address)
            case NoticeKind.CONTEXT_ENDED:
                self.log.check.context_ended(self.arena, self._left)
                for address in self._left:
                    self.arena.remove(address)
                self._left.clear()
                self.arena.remove_heap()
            case NoticeKind.HEAP_LIMIT:
                self.arena.heap_bytes = notice.size
            case NoticeKind.STACK_LIMIT:
                self.stack_bytes = min(notice.size, MOST_STACK)

    def load(self, image: bytes) -> Answer:
        self.log.view.running = "loading the program's code"
        try:
            made = LoadedModule(image, self.gpu, self.arena)
            self.log.view.running = ""
        except ImageError as error:
            self.log.view.running = ""
            self.log.note(f"an image of the program cannot be loaded: {error}")
            return error.status, b""
        number = len(self.modules) + 1
        self.modules[number] = made
        sizes = made.module.variables.image.size, made.module.variables.constants.size
        return Status.SUCCESS, LOADED.pack(number, 0, made.variables, sizes[0], made.constants, sizes[1])

    def link(self, pieces: bytes) -> Answer:
        """The cubin made of pieces of code."""
        try:
            return Status.SUCCESS, link(pieces, self.gpu)
        except ImageError as error:
            self.log.note(f"code of the program cannot be linked: {error}")
            return error.status, b""
        except CubinError:
            return Status.INVALID_IMAGE, b""

    def texture(self, payload: bytes) -> Answer:
        """A new texture or surface object, or one that is no more, whose descriptor is empty."""
        handle, *descriptor = np.frombuffer(payload, np.int64).tolist()
        self.arena.textures.put(handle, descriptor)
        return Status.SUCCESS, b""

    def access(self, payload: bytes) -> Answer:
        """Before the program reads or writes a block itself."""
        block, access, _ = ACCESS.unpack(payload)
        if access == BlockAccess.READ:
            self.deferred.before_read(block)
        else:
            self.deferred.before_write(block, access == BlockAccess.WRITTEN_AS_WHOLE)
        return Status.SUCCESS, self._deferral(done=False)

    def defer(self, payload: bytes) -> Answer:
        """A copy within the GPU, or a fill, which is done later."""
        block, at, source_block, source, pitch, width, height, value, element = DEFER.unpack(payload)
        if element:
            self.deferred.fill((block, at), pitch, width, height, value, element)
        else:
            self.deferred.copy((block, at), (source_block, source), width)
        return Status.SUCCESS, self._deferral(done=True)

    def _deferral(self, done: bool) -> bytes:
        return DEFERRAL.pack(done, DEFERRED * bool(self.deferred))

    def unload(self, module: int) -> Answer:
        self.deferred.finish()
        known(self.modules, module).unload()
        return Status.SUCCESS, b""

    def function(self, module: int, symbol: str) -> Answer:
        owner = known(self.modules, module)
        if symbol not in owner.module.cubin.kernels:
            return Status.NOT_FOUND, b""
        number = len(self.functions) + 1
        found = self.functions[number] = LoadedFunction(owner, symbol)
        return Status.SUCCESS, found.record(number, self.gpu)

    def kernels(self, module: int) -> Answer:
        """The symbols of a module's kernels."""
        names = known(self.modules, module).module.cubin.kernels
        return Status.SUCCESS, b"".join(name.encode() + b"\0" for name in names)

    def variable(self, module: int, symbol: str) -> Answer:
        found = known(self.modules, module).variable(symbol)
        return (Status.SUCCESS, GLOBAL.pack(*found)) if found else (Status.NOT_FOUND, b"")

    def occupancy(self, payload: bytes) -> Answer:
        number, threads, shared, _ = OCCUPANCY.unpack(payload)
        kernel = known(self.functions, number).kernel.kernel
        found = occupancy(self.gpu, kernel.registers, threads, kernel.shared_bytes, shared, kernel.barriers)
        return Status.SUCCESS, WORD.pack(found.blocks)

    def launch(self, message: LaunchMessage) -> Answer:
        """Executes and times a launch.  A fault is none of the launch itself: it is told to the calls that follow."""
        function = known(self.functions, message.function)
        try:
            configuration = function.configuration(message, self.gpu)
        except UsageError as error:
            self.log.note(f"a launch was refused: {error}")
            return (Status.TOO_LARGE if message.cooperative else Status.INVALID_CONFIGURATION), b""
        if self.banned:
            return Status.SUCCESS, LAUNCHED.pack(0, 0.0, 0, 0, 0, 0, self.l2.state)
        kernel, launch = configuration.kernel, configuration.launch
        key = configuration, message.parameters
        wanted = [save for save in self.saves if save.next(function.name)]
        if self.archive is not None:
            wanted += self.archive.requests(function.name, launch)
        found, began = self.memo.find(key)
        selector = self.log.selector
        selected = selector.selects(function.name, launch)
        executes = wanted or (selected and not selector.all)  # the counters of an earlier one may not be known
        if found is not None and not executes:
            self.memo.repeat(found, lambda: self._execute_deferred(configuration, message.parameters))
            time = self._repeat(found.number)
            return Status.SUCCESS, self._launches[found.number].answer(
                found.number, time, self.l2.state, bool(self.deferred)
            )
        self.deferred.finish()
        self.log.view.running = f"executing {function.name}"
        memory = self.arena.memory()
        counts = selected or self.log.check.on or self.predictor.wants_counters(configuration)
        checks = self.log.check.kernel_checks
        try:
            request = self._request(configuration, message.parameters, memory)
            stray: KernelFault | None = None
            while True:
                try:
                    counted = execute(request, threads=available_threads(), checks=checks, counted=counts)
                    break
                except KernelFault as fault:
                    if not self._other_pages(fault, stray):
                        raise
                    stray = stray or fault
                memory.undo()
                memory.release()
                memory = self.arena.memory()
                request = replace(request, memory=memory)
            if stray is not None:
                first, *_ = str(stray).splitlines()
                self.log.note(f"{function.name}: {first}; no error on a GPU: its page of 2 MB has an allocation")
        except DynamicParallelism:
            self.log.view.running = ""
            self.log.missed(f"launches by kernels (dynamic parallelism: {function.name})")
            return Status.NOT_SUPPORTED, b""
        except (KernelFault, UnsupportedInstruction, CubinError) as error:
            self.log.view.running = ""
            if isinstance(error, KernelFault):
                self._save(wanted, request, function)
            return self._fault(function.name, error)
        except BaseException:
            memory.undo()
            raise
        self._save(wanted, request, function)
        run = Run(kernel, launch, counted, self.gpu, title=function.name, again=request)
        self.arena.heap = memory.opened_heap or self.arena.heap
        touched = self._touched(memory, function)
        self.log.check.launched(function.name, counted.hazards)
        self.log.check.read_unwritten(function.name, self.arena, touched)
        self.log.view.running = f"predicting the time of {function.name}"
        timed = self.predictor.time(run, configuration, selected)
        time = self.l2.launch(timed)
        self.log.view.running = ""
        if time.in_proportion and selected:
            self.log.note(
                f"{function.name}: launches beyond {MOST} different ones, and similar grids beyond {MOST_GRIDS}, last "
                "in proportion to instructions"
            )
        memory.release()
        number = self.log.launched(self.process, function.name, run, time, timed.cold)
        outside = self.arena.opens_pages and any(one.name == OUTSIDE for one in memory.in_use)
        pure = not (kernel.kernel.externs or outside) and self.memo.may_remember(touched)
        self.memo.learn(key, began, touched, number, pure)
        needed = self._to_be_saved(function.name) or (not counts and selector.may_select(function.name, launch))
        repeatable = pure and touched.idempotent and not needed
        done = PureLaunch(timed, configuration.share, repeatable, touched)
        if pure:
            self._launches[number] = done
        return Status.SUCCESS, done.answer(number, time, self.l2.state) + counted.printed.encode()

    def _execute_deferred(self, configuration: LaunchConfiguration, parameters: bytes) -> None:
        """Executes a launch whose results were only known by name."""
        self.log.view.running = f"executing {configuration.function.name}"
        request = self._request(configuration, parameters, self.arena.memory())
        execute(request, threads=available_threads(), counted=False)
        request.memory.release()
        self.log.view.running = ""

    def _request(
        self, configuration: LaunchConfiguration, parameters: bytes, memory: ArenaMemory
    ) -> LaunchRequest:
        kernel = configuration.kernel
        return LaunchRequest(
            kernel.kernel, kernel.program, configuration.launch, parameters, memory,
            configuration.function.owner.banks(kernel.kernel), self.gpu.multiprocessors, self.budget, self.stack_bytes,
        )  # fmt: skip

    def _other_pages(self, fault: KernelFault, before: KernelFault | None) -> bool:
        """Whether a launch is worth another try: without --check the rest of the pages of allocations can be accessed,
        as on a GPU; if that is not enough, the fault is reported without them."""
        if self.log.check.on or fault.kind != FaultKind.STRAY.name or (before and not self.arena.opens_pages):
            return False
        self.arena.open_pages(not self.arena.opens_pages)
        return True

    def repeat(self, number: int) -> Answer:
        """A launch that is once more what it was: nothing is executed."""
        time = self._repeat(number)
        return Status.SUCCESS, REPEATED.pack(time.nanoseconds, self.l2.state)

    def _repeat(self, number: int) -> LaunchTime:
        time = self.l2.launch(known(self._launches, number).timed)
        self.log.repeated(self.process, number, time)
        return time

    def _to_be_saved(self, name: str) -> bool:
        """Whether one of the next launches of this kernel must not be answered by the program's own library."""
        return any(save.is_open and save.matches(name) for save in self.saves)

    def _save(self, wanted: Sequence[SaveRequest], request: LaunchRequest, function: LoadedFunction) -> None:
        code, program = function.owner.module.cubin.data, self.log.view.processes.get(self.process, "")
        for found in wanted:
            try:
                save(found.file, request, code, function.name, program, self.gpu)
            except OSError as error:
                self.log.note(f"--save-launch: cannot write {found.file}: {error.strerror}")
            else:
                self.log.view.saved.append(SavedFile(function.name, found.number, found.file))

    def _touched(self, memory: ArenaMemory, function: LoadedFunction) -> Touched:
        """Of the arena's blocks; the module's constants count as read."""
        known = self.arena.blocks
        read, written = (
            frozenset(memory.allocations[n].address for n in numbers) & known.keys()
            for numbers in (memory.read, memory.written)
        )
        constants = frozenset({function.owner.constants} if function.owner.constants else ())
        return Touched(read | constants, written)

    def _fault(self, name: str, error: KernelFault | UnsupportedInstruction | CubinError) -> Answer:
        self.banned = True
        printed, status = "", Status.ILLEGAL_INSTRUCTION
        if isinstance(error, KernelFault):
            printed, status = error.printed, FAULTS.get(error.kind, Status.LAUNCH_FAILED)
        self.log.check.faulted(name, visible(str(error)))
        self.log.faulted(visible(f"{name}: {error}"), status)
        return Status.SUCCESS, LAUNCHED.pack(0, 1.0, status, 0, 0, 0, self.l2.state) + printed.encode()
