"""Normal form: registers, branch targets and lines may differ, instructions may not."""

from __future__ import annotations

from dataclasses import replace

import pytest

import warplens as wl
from warplens.core.program import Address, Instruction, Operand, Program, Register
from warplens.kernel import LaunchableKernel
from warplens.regression.normal_form import NormalForm, normal_form

SOURCE = """extern "C" __global__ void k(const double* x, double* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  double s = 0;
  for (int j = i; j < n; j += 64) s += x[j] * 3.7;
  if (i < n) y[i] = s;
}
"""


@pytest.fixture(scope="module")
def kernel() -> LaunchableKernel:
    return wl.compile(source=SOURCE)["k"]


def form(kernel: LaunchableKernel, program: Program | None = None) -> NormalForm:
    return normal_form(program or kernel.program, kernel.kernel)


def renamed(program: Program, number: dict[int, int]) -> Program:
    """The program with other general registers."""

    def register(one: Register | None) -> Register | None:
        return replace(one, index=number.get(one.index, one.index)) if one and one.file == "R" else one

    def operand(one: Operand) -> Operand:
        if isinstance(one, Address):
            return replace(one, base=register(one.base))
        return register(one) or one if isinstance(one, Register) else one

    def instruction(one: Instruction) -> Instruction:
        return replace(one, operands=tuple(map(operand, one.operands)))

    return replace(program, instructions=tuple(map(instruction, program.instructions)))


def test_renamed_registers_are_the_same(kernel: LaunchableKernel) -> None:
    moved = {index: index + 16 if index > 1 else index for index in range(100)}  # pairs and quads stay aligned
    other = renamed(kernel.program, moved)
    assert other != kernel.program
    assert form(kernel, other).digest == form(kernel).digest


def test_registers_that_change_places_are_not(kernel: LaunchableKernel) -> None:
    """One instruction reads another value than before."""
    program = kernel.program
    (add,) = [i for i in program.body if i.base == "DFMA"][:1]
    operands = list(add.operands)
    operands[1], operands[3] = operands[3], operands[1]
    changed = replace(add, operands=tuple(operands))
    code = tuple(changed if i is add else i for i in program.instructions)
    assert form(kernel, replace(program, instructions=code)).digest != form(kernel).digest


@pytest.mark.parametrize("field", ["opcode", "control", "guard", "offset"])
def test_instructions_and_scheduling_count(kernel: LaunchableKernel, field: str) -> None:
    program, at = kernel.program, 3
    one = program.instructions[at]
    changed = {
        "opcode": replace(one, opcode=f"{one.opcode}.X"),
        "control": replace(one, control=replace(one.control, stall=one.control.stall + 1)),
        "guard": replace(one, guard=Register("P", 3)),
        "offset": replace(one, source=None),
    }[field]
    code = (*program.instructions[:at], changed, *program.instructions[at + 1 :])
    same = form(kernel, replace(program, instructions=code)).digest == form(kernel).digest
    assert same is (field == "offset"), "source lines alone do not count"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (SOURCE.replace("double s", "// a sum\n\n  double s"), True),
        (SOURCE.replace(" s ", " total ").replace("= s;", "= total;"), True),
        ("__constant__ double t[3];\n__device__ int unused() { return 7; }\n" + SOURCE, True),
        (SOURCE.replace("3.7", "3.75"), False), (SOURCE.replace("< n", "<= n"), False),
        (SOURCE.replace("j += 64", "j += 65"), False),
    ],
)  # fmt: skip
def test_of_the_same_machine_code(kernel: LaunchableKernel, text: str, same: bool) -> None:
    assert (form(wl.compile(source=text)["k"]).digest == form(kernel).digest) is same
