"""Program check: what --check finds in a whole program: of its kernels, its memory and its calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warplens.core.hazard import CHECKS, Check, Hazard, Party
from warplens.errors import UsageError
from warplens.program import arena
from warplens.program.arena import Arena
from warplens.program.memo.launch_memo import Touched
from warplens.report.program_view import ProgramFinding, ProgramView

ALL = (*CHECKS, "leaks", "api")
DIRECTIONS = ("host to host", "host to device", "device to host", "device to device")
ANSWERED, NOT_ASKED_FOR, NOT_SEEN = range(3)  # shim/protocol.h
STANDS_FOR = {
    "copy": "cudaMemcpy", "fill": "cudaMemset", "launch_function": "a launch", "launch_host": "a launch",
    "__cudaPushCallConfiguration": "a launch",
}  # fmt: skip
"""What functions of the library that several calls share are called in a report."""
MOST_NAMED = 5  # of the blocks that were not freed
NAMES = {
    1: "cudaErrorInvalidValue", 2: "cudaErrorMemoryAllocation", 9: "cudaErrorInvalidConfiguration",
    13: "cudaErrorInvalidSymbol", 21: "cudaErrorInvalidMemcpyDirection", 98: "cudaErrorInvalidDeviceFunction",
    101: "cudaErrorInvalidDevice", 209: "cudaErrorNoKernelImageForDevice", 400: "cudaErrorInvalidResourceHandle",
    500: "cudaErrorSymbolNotFound", 700: "cudaErrorIllegalAddress", 701: "cudaErrorLaunchOutOfResources",
    702: "cudaErrorLaunchTimeout", 710: "cudaErrorAssert", 715: "cudaErrorIllegalInstruction",
    716: "cudaErrorMisalignedAddress", 719: "cudaErrorLaunchFailure", 720: "cudaErrorCooperativeLaunchTooLarge",
}  # fmt: skip


def program_checks_of(words: Sequence[str]) -> tuple[str, ...] | None:
    """The checks that are named: "races,leaks" is two, "all" is all of them; None without a word.  UsageError.

    memory (bounds and alignment to the byte, use after free) is with each.
    """
    said = {part for word in words for part in word.replace(" ", "").split(",") if part}
    if unknown := sorted(said - {*ALL, "all", "memory"}):
        raise UsageError(f"--check: no check {unknown[0]!r}; there are memory, {', '.join(ALL)} and all")
    if not said:
        return None
    return ("memory", *(check for check in ALL if check in said or "all" in said))


class ProgramCheck:
    """Program check: fills `view.findings`, each finding once, with how often it was made."""

    def __init__(self, view: ProgramView, checks: Sequence[str] | None) -> None:
        self.view, self.checks = view, checks or ()
        view.checks = tuple(checks) if checks is not None else None
        self.kernel_checks: frozenset[Check] = frozenset(check for check in CHECKS if check in self.checks)
        self._found: dict[tuple[str, str, str | None], ProgramFinding] = {}

    @property
    def on(self) -> bool:
        return bool(self.checks)

    def _add(self, finding: ProgramFinding) -> None:
        key = finding.check, finding.message, finding.kernel
        if known := self._found.get(key):
            known.times += finding.times
            return
        self._found[key] = finding
        self.view.findings.append(finding)

    def launched(self, kernel: str, hazards: Iterable[Hazard]) -> None:
        """What the checks found in a launch."""
        for hazard in hazards:
            places = "".join(f"\n  {_place(party)}" for party in hazard.parties)
            message = f"{hazard.message}{places}"
            self._add(ProgramFinding(hazard.check, hazard.severity, message, kernel, hazard.times))

    def read_unwritten(self, kernel: str, memory: Arena, touched: Touched) -> None:
        """Device memory that a launch reads and that nothing has written since it was allocated."""
        for place in sorted((touched.read - touched.written) & memory.unwritten):
            if "init" in self.checks:
                message = f"uninitialized global read: nothing has been written to {memory.blocks[place].name}"
                self._add(ProgramFinding("init", "error", message, kernel))
        memory.unwritten -= touched.written

    def faulted(self, kernel: str, message: str) -> None:
        if self.on:
            self._add(ProgramFinding("memory", "error", message, kernel))

    def misdirected(self, said: int, found: int) -> None:
        """A copy whose direction is not that of its pointers."""
        if "api" in self.checks:
            message = f"a copy is said to be {DIRECTIONS[said]}, and its pointers are {DIRECTIONS[found]}"
            self._add(ProgramFinding("api", "error", message))

    def unsynchronized(self, name: str) -> None:
        """The host has touched memory that work in a stream writes."""
        if "api" in self.checks:
            message = f"the host accesses {name} before it has waited for the GPU, which writes it: synchronize first"
            self._add(ProgramFinding("api", "error", message))

    def api_error(self, kind: int, call: str, error: int) -> None:
        """An error of a call, or one that the program has not looked at when it ends."""
        if "api" not in self.checks:
            return
        name, call = NAMES.get(error, f"error {error}"), STANDS_FOR.get(call, call)
        if kind == ANSWERED:
            self._add(ProgramFinding("api", "warning", f"{call} answered with {name}"))
        elif kind == NOT_SEEN:
            message = f"the program ended before a call answered with {name}: synchronize, and look at the answer"
            self._add(ProgramFinding("api", "error", message))
        elif call == "a launch":  # which has no answer of its own
            message = f"nobody asked for the error of a launch, {name}: call cudaGetLastError() behind it"
            self._add(ProgramFinding("api", "error", message))

    def ended(self, memory: Arena) -> None:
        """A process has ended by itself: what it has not freed."""
        self.context_ended(memory, memory.kinds)

    def context_ended(self, memory: Arena, places: Iterable[int]) -> None:
        """A process has ended or reset a GPU, and these blocks have not been freed."""
        if "leaks" not in self.checks:
            return
        own = (arena.ALLOCATED, arena.PINNED, arena.MANAGED)
        left = [memory.blocks[place] for place in sorted(places) if memory.kinds[place] in own]
        if not left:
            return
        size = sum(memory.sizes[block.address] for block in left)
        names = ", ".join(block.name for block in left[:MOST_NAMED]) + (", ..." if len(left) > MOST_NAMED else "")
        many = f"{len(left):,} allocations of {size:,} bytes were" if len(left) > 1 else f"{size:,} bytes were"
        self._add(ProgramFinding("leaks", "warning", f"{many} not freed: {names}"))


def _place(party: Party) -> str:
    """ "write by thread (3,0,0) at copy.cu:12: STG.E [R2], R4"."""
    x, y, z = party.thread
    source = party.at.source
    where = f"{source.file.rsplit('/', 1)[-1]}:{source.line}" if source else f"{party.at.offset:#x}"
    return f"{party.act} by thread ({x},{y},{z}) at {where}: {party.at.opcode} {party.at.text}"
