"""Prints the tables of docs/opcodes.md: what each opcode means, where it is seen, and how that was proven.

Read from measurements/h200/opcodes.csv, which tests/isa/coverage.py writes, and from isa/ itself.
"""

from __future__ import annotations

import csv
from pathlib import Path

from warplens.core.program import Control, Instruction
from warplens.errors import CubinError
from warplens.isa import find, operations
from warplens.isa.dsl.description import explain
from warplens.sass.operand_parser import parse_operands

ROOT = Path(__file__).parent.parent
FILE = ROOT / "measurements" / "h200" / "opcodes.csv"
EVERYWHERE = "75 80 86 89 90 100 120"


def main() -> None:
    with FILE.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if find(row["opcode"])]
    print("| opcode | an instruction of it, in words | pipe | sm_ | proven |")
    print("|---|---|---|---|---|")
    for row in rows:
        found = find(row["opcode"])
        assert found is not None
        seen = "all" if row["architectures"] == EVERYWHERE else row["architectures"]
        print(f"| `{row['opcode']}` | {words(row)} | {found[0].pipe} | {seen} | {proof(row)} |")
    shown = {id(found[0]) for row in rows if (found := find(row["opcode"]))}
    unseen = sorted({op.name for ops in operations().values() for op in ops if id(op) not in shown})
    print(f"| {len(unseen)} more | {', '.join(f'`{name}`' for name in unseen)} | | not seen | not yet |")


def words(row: dict[str, str]) -> str:
    """The instruction that the table keeps, as the listing explains it."""
    opcode, text, encoding = row["opcode"], row["operands"], int(row["encoding"], 16)
    if text == "?":  # every one seen names a function
        return ""
    try:
        operands = parse_operands(opcode, text, encoding, int(row["offset"]), {})
    except CubinError:  # it names a function
        return ""
    idle = Control(0, False, None, None, 0)
    instruction = Instruction(int(row["offset"]), opcode, None, operands, text, idle, encoding, None)
    return explain(instruction).replace("|", "\\|")


def proof(row: dict[str, str]) -> str:
    """Expressions that an H200 computes so, that the host's compiler does, kernels; and where nothing of it holds."""
    counts = {"hardware": int(row["equal"]), "host": int(row["host"]), "kernels": len(row["kernels"].split())}
    parts = [f"{name} ({count})" for name, count in counts.items() if count]
    if not parts:
        return "not yet"
    missing = [arch for arch in row["architectures"].split() if arch not in row["proven"].split()]
    return ", ".join(parts) + (f"; not yet on {' '.join(missing)}" if missing else "")


if __name__ == "__main__":
    main()
