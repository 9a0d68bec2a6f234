"""disassemble: text, encodings and lines meet; the tool is started once."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.kernel_launches import ARCHITECTURES, KERNELS, module
from helpers.nvdisasm_server import one_process
from warplens.compiler import compile_source, read_cubin
from warplens.core.program import Address, Immediate, Label, Register, Special
from warplens.errors import CompileError, CubinError, UsageError
from warplens.sass import code_text, disassemble, disassemble_ahead, nvdisasm

MEASURED = Path(__file__).parents[1] / "data" / "kernels.sm_90.cubin"


def compiled(source: str, arch: str):
    return read_cubin(compile_source(source, "k.cu", arch)[0])


def test_measured_copy():
    program = disassemble(read_cubin(MEASURED.read_bytes()), "ccopy")
    assert (program.name, program.arch) == ("ccopy", "sm_90")
    assert [i.offset for i in program.instructions] == [16 * k for k in range(len(program.instructions))]
    opcodes = [instruction.opcode for instruction in program.instructions]
    assert opcodes.count("LDG.E") == opcodes.count("STG.E") == 1
    (load,) = (i for i in program.instructions if i.opcode == "LDG.E")
    assert isinstance(load.operands[1], Address)
    assert load.operands[1].wide
    assert load.source is not None
    assert load.source.line == 7
    assert load.control.write_barrier is not None


def test_fields_of_the_encoding_agree_with_the_text():
    """Destination in bits 23:16, guard in 15:12: wherever the measured binary has them."""
    seen = 0
    for program in disassemble(read_cubin(MEASURED.read_bytes())).values():
        for instruction in program.instructions:
            guard = instruction.encoding >> 12 & 0xF
            if instruction.guard is None:
                assert guard == 7 or instruction.base in ("BRA", "P2R")
            elif instruction.guard.file == "P":
                assert guard == instruction.guard.index | instruction.guard.invert << 3
            if instruction.base in ("IMAD", "FFMA", "IADD3", "MOV", "LDG", "LDS", "LDC"):
                destination = instruction.operands[0]
                assert isinstance(destination, Register)
                assert instruction.encoding >> 16 & 0xFF == destination.index & 0xFF
                seen += 1
    assert seen > 400


CALLS = """
__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void f(int *y) { *y = fib(*y); }
"""


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
def test_calls_and_returns_are_places(arch):
    cubin = compiled(CALLS, arch)
    kernel = cubin.kernels["f"]
    program = disassemble(cubin, "f")
    calls = [i.operands[-1] for i in program.instructions if i.base == "CALL"]
    (place,) = (offset for name, offset in kernel.functions.items() if "fib" in name)
    assert calls
    assert {operand.offset for operand in calls if isinstance(operand, Label)} == {place}
    returns = [i.operands[-1] for i in program.instructions if i.base == "RET"]
    assert set(returns) == {Label(0, "f")}
    assert place // 16 in {block.first for block in program.blocks}


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
def test_jump_table(arch):
    source = """
    extern "C" __global__ void f(float *y, int n) {
        float v = y[threadIdx.x];
        switch (n) {
            case 0: v = sinf(v); break; case 1: v = sqrtf(v); break; case 2: v = expf(v); break;
            case 3: v = logf(v); break; case 4: v = v * v; break; case 5: v = tanhf(v); break;
        }
        y[threadIdx.x] = v;
    }"""
    cubin = compiled(source, arch)
    program = disassemble(cubin, "f")
    jumps = [i for i in program.instructions if i.base == "BRX"]
    assert jumps
    successors = {block.last: block.successors for block in program.blocks}
    for jump in jumps:
        targets = cubin.kernels["f"].branch_targets[jump.offset]
        assert set(targets) >= {16 * first for first in successors[jump.index]}
        assert len(successors[jump.index]) >= 2
        assert jump.operands[1] == Label(0)  # tables hold offsets in the section


def test_predicates_as_data():
    """P2R prints its source in the place of a guard, R2P among its operands."""
    lines = [["PR", "P2R", "R9,RZ,0x10"], ["@!P2", "R2P", "PR,R0,0x3"], ["@UP0", "EXIT", ""]]
    from warplens.sass.listing import program

    kernel = replace(
        read_cubin(MEASURED.read_bytes()).kernels["ccopy"],
        code=bytes(48),
        functions={"ccopy": 0},
        lines=(None,) * 3,
    )
    first, second, third = program(kernel, [(a, b, c) for a, b, c in lines]).instructions
    assert first.guard is None
    assert first.operands == (Register("R", 9), Special("PR"), Register("R", -1), Immediate(16))
    assert second.guard == Register("P", 2, invert=True)
    assert second.operands[0] == Special("PR")
    assert third.guard == Register("UP", 0)


def test_unknown_kernel_names_the_known_ones():
    with pytest.raises(UsageError, match=r"no kernel 'copy'.*ccopy, nccopy"):
        disassemble(read_cubin(MEASURED.read_bytes()), "copy")


def test_refused_by_the_tool(monkeypatch):
    monkeypatch.setenv("WARPLENS_CACHE", "off")
    cubin = read_cubin(MEASURED.read_bytes())
    zeros = replace(cubin.kernels["ccopy"], code=bytes(len(cubin.kernels["ccopy"].code)))
    with pytest.raises(CubinError, match=r"nvdisasm refused the code: [^\n]*Illegal instruction"):
        disassemble(replace(cubin, kernels={"ccopy": zeros}), "ccopy")
    with pytest.raises(CubinError, match="nvdisasm refused the cubin"):
        disassemble(replace(cubin, data=b"not a cubin", kernels={"ccopy": replace(zeros, relocated=True)}), "ccopy")


def test_an_nvdisasm_that_cannot_be_started(tmp_path, monkeypatch):
    """An archive of packages may lose the right to execute."""
    (tmp_path / "nvdisasm").write_text("#!/bin/sh\n")
    monkeypatch.setattr(nvdisasm, "answer", one_process)
    monkeypatch.setattr(nvdisasm, "_tool", lambda: (tmp_path / "nvdisasm", "13"))
    with pytest.raises(CubinError, match=r"cannot start nvdisasm: Permission denied: .*/nvdisasm"):
        nvdisasm.code_lines("sm_90", bytes(16))


@pytest.fixture
def starts(monkeypatch, tmp_path):
    """The commands by which nvdisasm is started, with an empty cache."""
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path))
    monkeypatch.setattr(nvdisasm, "answer", one_process)
    commands = []
    run = subprocess.run

    def started(command, **options):
        commands.append(command[1:-1])
        return run(command, **options)

    monkeypatch.setattr(nvdisasm.subprocess, "run", started)
    return commands


STORES = """
extern "C" __global__ void f(int *y) { *y = 1; }
extern "C" __global__ void g(int *y) { for (int i = 0; i < *y; ++i) if (y[i]) y[i + 1] = y[i] / 3; }
"""


def test_the_tool_is_started_once_and_not_for_other_lines_of_the_same_code(starts):
    first = disassemble(compiled(STORES, "sm_90"))
    assert [len(program.instructions) > 7 for program in first.values()] == [True, True]
    assert len(starts) == 1
    moved = disassemble(compiled("// a comment\n" + STORES, "sm_90"))
    assert [[(i.opcode, i.operands) for i in program.instructions] for program in first.values()] == [
        [(i.opcode, i.operands) for i in program.instructions] for program in moved.values()
    ]
    assert [program.instructions[0].source.line for program in moved.values()] == [3, 4]
    assert len(starts) == 1


@pytest.mark.long
def test_what_is_disassembled_ahead_needs_no_start(starts):
    """One start an architecture; places of jumps count from the beginning of each kernel."""
    cubins = [compiled(STORES, "sm_90"), compiled(STORES.replace("3", "5"), "sm_90"), compiled(STORES, "sm_80")]
    disassemble_ahead(cubins)
    assert starts == [["-json", "--binary", arch, "--no-dataflow"] for arch in ("SM80", "SM90")]
    ahead = [dict(disassemble(cubin)) for cubin in cubins]
    assert len(starts) == 2
    assert ahead == [dict(disassemble(of_cubin(cubin))) for cubin in cubins]
    assert len(starts) == 5


def of_cubin(cubin):
    """The same, whose text comes from the cubin and not from its code alone."""
    return replace(cubin, kernels={name: replace(kernel, relocated=True) for name, kernel in cubin.kernels.items()})


def test_text_of_code_is_that_of_the_cubin():
    for cubin in (read_cubin(MEASURED.read_bytes()), compiled(CALLS, "sm_90")):
        assert all(map(code_text.is_code_alone, cubin.kernels.values()))
        assert dict(disassemble(cubin)) == dict(disassemble(of_cubin(cubin)))


@pytest.mark.long
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_text_of_code_is_that_of_the_cubin_of_every_kernel(arch):
    for file in sorted(KERNELS.glob("*.cu")):
        try:
            cubin = module(file.name, arch).cubin
        except CompileError:  # of a later architecture
            continue
        assert dict(disassemble(cubin)) == dict(disassemble(of_cubin(cubin))), file.name


def test_a_kernel_of_a_large_cubin_is_read_alone(monkeypatch):
    cubin = read_cubin(MEASURED.read_bytes())
    whole = disassemble(cubin, "ccopy")
    monkeypatch.setattr(code_text, "LARGE", 1)
    monkeypatch.setenv("WARPLENS_CACHE", "off")
    asked = []
    code_lines, cubin_lines = nvdisasm.code_lines, nvdisasm.cubin_lines
    monkeypatch.setattr(nvdisasm, "code_lines", lambda arch, code: asked.append(code) or code_lines(arch, code))
    assert disassemble(cubin)["ccopy"] == whole
    monkeypatch.setattr(nvdisasm, "cubin_lines", lambda data, symbol: asked.append(symbol) or cubin_lines(data, symbol))
    assert disassemble(of_cubin(cubin))["ccopy"] == whole
    assert asked == [cubin.kernels["ccopy"].code, cubin.kernels["ccopy"].symbol]
