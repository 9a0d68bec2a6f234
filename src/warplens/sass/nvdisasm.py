"""nvdisasm: starts NVIDIA's disassembler of the package index, on a cubin or on code alone.

A start takes 0.4 s (sm_75) to 0.9 s (sm_120), an instruction some 10 us.  In code alone (`--binary`) the text of an
instruction depends on its 16 bytes and, where it jumps, on its place; in a cubin also on symbols and relocations.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warplens.errors import CubinError
from warplens.sass.prepared_process import PreparedProcess
from warplens.system.nvidia_wheels import program_of

Line = tuple[str, str, str]
"""Predicate, opcode with modifiers, operands."""

LONGEST_SECONDS = 300
MISSING = "nvdisasm is missing: pip install nvidia-cuda-nvdisasm"


def version() -> str:
    return _tool()[1]


def cubin_lines(data: bytes, symbol: int) -> dict[str, list[Line]]:
    """The lines of the function with this symbol number, or of all (0), by name.  CubinError."""
    chosen = ["-fun", str(symbol)] if symbol else []
    return _lines(_started(data, chosen, "the cubin"))


def code_lines(arch: str, code: bytes) -> list[Line]:
    """The lines of code.  Places that it jumps to count from its beginning.  CubinError."""
    functions = _lines(_started(code, ["--binary", arch.replace("sm_", "SM"), "--no-dataflow"], "the code"))
    return [line for lines in functions.values() for line in lines]


def _lines(document: bytes) -> dict[str, list[Line]]:
    """Of nvdisasm's JSON, the lines of each function."""
    try:
        _, functions = json.loads(document, strict=False)  # names are printed as they are, control characters too
        return {
            function["function-name"]: [
                (line.get("predicate", ""), line["opcode"], line.get("operands", ""))
                for line in function["sass-instructions"]
            ]
            for function in functions
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise CubinError("nvdisasm shows no code that can be read: the cubin is damaged, or has odd names") from None


def _started(data: bytes, options: Sequence[str], what: str) -> bytes:
    try:
        ended = ahead.answer(data, options) if ahead else answer(data, options)
    except OSError as error:
        raise CubinError(f"cannot start nvdisasm: {error.strerror}: {error.filename}") from None
    except subprocess.TimeoutExpired:
        raise CubinError(f"nvdisasm took over {LONGEST_SECONDS} s: {what} is damaged or too large") from None
    if ended.returncode:
        reasons = dict.fromkeys(ended.stderr.decode(errors="replace").splitlines())  # once, not for each instruction
        reason = "\n".join(reasons).strip()
        if ended.returncode < 0:
            reason = f"it ended by signal {-ended.returncode}; {what} may be damaged"
        raise CubinError(f"nvdisasm refused {what}: {reason}")
    return ended.stdout


class AheadOfTime:
    """Starts the next process ahead of time, for questions that come one after the other with the same options.

    folder   of the file that it will read
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._asked: tuple[bytes, tuple[str, ...], float] | None = None
        self._prepared: tuple[tuple[str, ...], PreparedProcess] | None = None

    def answer(self, data: bytes, options: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        prepared, self._prepared = self._prepared, None
        ended, before = None, _processor_seconds()
        if prepared and prepared[0] == tuple(options):
            ended = prepared[1].answer(data, LONGEST_SECONDS)
        elif prepared:
            prepared[1].end()
        if ended is None:
            before = _processor_seconds()
            ended = answer(data, options)
        seconds = _processor_seconds() - before
        if self._asked and self._asked[1] == tuple(options):
            seconds = min(seconds, self._asked[2], prepared[1].used or seconds if prepared else seconds)
        self._asked = data, tuple(options), seconds
        return ended

    def prepare(self) -> None:
        """Starts a process for a question like the last one."""
        if self._asked is None or self._prepared is not None:
            return
        data, options, seconds = self._asked
        file = self.folder / "next.cubin"
        file.write_bytes(data)
        self._prepared = options, PreparedProcess(command(options), file, seconds)

    def end(self) -> None:
        if self._prepared:
            self._prepared[1].end()
            self._prepared = None


ahead: AheadOfTime | None = None
"""Where processes are started ahead of time; None: each when it is asked."""


def _processor_seconds() -> float:
    """Of all children that have ended."""
    used = os.times()
    return used.children_user + used.children_system


def answer(data: bytes, options: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
    """What one process of nvdisasm says; the file is called "the file" in its messages."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(data)
        file.flush()
        ended = subprocess.run([*command(options), file.name], capture_output=True, timeout=LONGEST_SECONDS)
    ended.stderr = ended.stderr.replace(file.name.encode(), b"the file")
    return ended


def command(options: Sequence[str]) -> list[str]:
    """Without the file.  CubinError."""
    return [str(_tool()[0]), "-json", *options]


def _tool() -> tuple[Path, str]:
    """nvdisasm, and its version."""
    found = program_of("nvidia-cuda-nvdisasm", "nvdisasm")
    if found is None:
        raise CubinError(MISSING)
    return found
