"""nvdisasm: starts NVIDIA's disassembler of the package index, on a cubin or on code alone.

A start takes 0.4 s (sm_75) to 0.9 s (sm_120), an instruction some 10 us.  In code alone (`--binary`) the text of an
instruction depends on its 16 bytes and, where it jumps, on its place; in a cubin also on symbols and relocations.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warplens.errors import CubinError
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
        ended = answer(data, options)
    except subprocess.TimeoutExpired:
        raise CubinError(f"nvdisasm took over {LONGEST_SECONDS} s: {what} is damaged or too large") from None
    if ended.returncode:
        reasons = dict.fromkeys(ended.stderr.decode(errors="replace").splitlines())  # once, not for each instruction
        reason = "\n".join(reasons).strip()
        if ended.returncode < 0:
            reason = f"it ended by signal {-ended.returncode}; {what} may be damaged"
        raise CubinError(f"nvdisasm refused {what}: {reason}")
    return ended.stdout


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
