"""Metrics against what Nsight Compute read on an H200, for traces worked out by hand."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.hand_made_traces import kernel, program, reached, trace
from warplens.core.counts import Trace
from warplens.core.cubin import SourceLine
from warplens.core.launch import Launch
from warplens.core.program import Program
from warplens.counters.metric_collection import (
    by_instruction,
    by_line,
    category_mix,
    flops,
    formulas,
    metrics,
    opcode_mix,
)
from warplens.counters.occupancy import occupancy
from warplens.machine import machine

H200 = json.loads((Path(__file__).parents[1] / "data/h200_counts.json").read_text())["kernels"]
CACHE_OR_TOTAL = {
    "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
}
OCCUPANCY = ("launch__occupancy", "launch__waves", "sm__maximum_warps")

CCOPY = """
LDC R1,c[0x0][0x28]
S2R R0,SR_TID.X
S2UR UR4,SR_CTAID.X
LDC R7,c[0x0][RZ]
IMAD R7,R7,UR4,R0
ULDC UR4,c[0x0][0x220]
ISETP.GE.AND P0,PT,R7,UR4,PT
@P0 EXIT
LDC.64 R2,c[0x0][0x210]
ULDC.64 UR4,c[0x0][0x208]
LDC.64 R4,c[0x0][0x218]
IMAD.WIDE R2,R7,0x4,R2
LDG.E R3,desc[UR4][R2.64]
IMAD.WIDE R4,R7,0x4,R4
STG.E desc[UR4][R4.64],R3
EXIT
"""

SEQUENTIAL = """
LDC R1,c[0x0][0x28]
S2R R7,SR_CTAID.X
LDC.64 R2,c[0x0][0x210]
ULDC UR5,c[0x0][0x0]
ULDC.64 UR8,c[0x0][0x208]
S2R R4,SR_TID.X
IMAD R5,R7,UR5,R4
IMAD.WIDE.U32 R2,R5,0x4,R2
LDG.E R2,desc[UR8][R2.64]
S2UR UR6,SR_CgaCtaId
UMOV UR4,0x400
USHF.R.U32.HI UR5,URZ,0x1,UR5
ISETP.NE.AND P0,PT,R4,RZ,PT
ISETP.NE.AND P1,PT,RZ,UR5,PT
ULEA UR4,UR6,UR4,0x18
LEA R5,R4,UR4,0x2
STS [R5],R2
@!P1 BRA 0x1d0
BAR.SYNC.DEFER_BLOCKING 0x0
ISETP.GE.U32.AND P1,PT,R4,UR5,PT
@!P1 VIADD R0,R4,UR5
USHF.R.U32.HI UR5,URZ,0x1,UR5
@!P1 LEA R0,R0,UR4,0x2
@!P1 LDS R2,[R5]
@!P1 LDS R3,[R0]
@!P1 IMAD.IADD R2,R2,0x1,R3
@!P1 STS [R5],R2
ISETP.NE.AND P1,PT,RZ,UR5,PT
@P1 BRA 0x120
@P0 EXIT
S2UR UR5,SR_CgaCtaId
UMOV UR4,0x400
LDC.64 R2,c[0x0][0x218]
ULEA UR4,UR5,UR4,0x18
IMAD.WIDE.U32 R2,R7,0x4,R2
LDS R5,[UR4]
STG.E desc[UR8][R2.64],R5
EXIT
"""


def ccopy() -> tuple[Program, Trace]:
    """2,048 blocks of 4 full warps; all lanes of a warp read and write 128 consecutive bytes."""
    made = program(CCOPY)
    warps, lanes = 8192, 8192 * 32
    access = {
        "requests": warps,
        "sectors": 4 * warps,
        "tags": warps,
        "ideal": 4 * warps,
        "bytes": 128 * warps,
    }
    rows = [{"executed": warps, "threads": lanes, "threads_on": lanes} for _ in made.instructions]
    rows[7]["threads_on"] = 0  # no thread is past the end
    rows[12] |= access
    rows[14] |= access
    return made, trace(Launch((2048, 1, 1), (128, 1, 1)), rows)


def sequential() -> tuple[Program, Trace]:
    """1,024 blocks of 8 warps sum 256 numbers in 8 rounds with 128, 64 ... 1 threads at work.

    The guarded instructions of a block have 255 lanes on in all, in 4 + 2 + 1 + 5 = 12 warp executions; only
    thread 0 goes on after the last branch.
    """
    made = program(SEQUENTIAL)
    blocks, warps, lanes = 1024, 8 * 1024, 256 * 1024
    rows = [{"executed": warps, "threads": lanes, "threads_on": lanes} for _ in made.instructions]
    for index in range(18, 29):
        rows[index] = {"executed": 8 * warps, "threads": 8 * lanes, "threads_on": 8 * lanes}
    for index in (20, 22, 23, 24, 25, 26):
        rows[index]["threads_on"] = 255 * blocks
    rows[17]["threads_on"] = 0  # the loop is never skipped
    rows[28]["threads_on"] = 7 * lanes
    rows[29]["threads_on"] = 255 * blocks
    for index in range(30, 38):
        rows[index] = {"executed": blocks, "threads": blocks, "threads_on": blocks}
    shared = {
        "requests": 12 * blocks,
        "wavefronts": 12 * blocks,
        "ideal": 12 * blocks,
        "bytes": 4 * 255 * blocks,
    }
    for index in (23, 24, 26):
        rows[index] |= shared
    rows[16] |= {"requests": warps, "wavefronts": warps, "ideal": warps, "bytes": 4 * lanes}
    rows[35] |= {"requests": blocks, "wavefronts": blocks, "ideal": blocks, "bytes": 4 * blocks}
    rows[8] |= {
        "requests": warps,
        "sectors": 4 * warps,
        "tags": warps,
        "ideal": 4 * warps,
        "bytes": 4 * lanes,
    }
    rows[36] |= {"requests": blocks, "sectors": blocks, "tags": blocks, "ideal": blocks, "bytes": 4 * blocks}
    return made, trace(Launch((1024, 1, 1), (256, 1, 1)), rows)


@pytest.mark.parametrize(("name", "made"), [("ccopy", ccopy()), ("reduce_sequential", sequential())])
def test_equal_to_what_an_h200_counted(name: str, made: tuple[Program, Trace]) -> None:
    values = metrics(*made, kernel(), occupancy(machine("h200"), 16, 256, 1024))
    for metric, counted in H200[name].items():
        if metric not in CACHE_OR_TOTAL and not metric.startswith(OCCUPANCY):
            assert round(values[metric].value, 2) == counted, metric


def test_lds_128_that_broadcasts_has_no_conflict() -> None:
    """matmul_coarse2 on an H200: 4,096 store conflicts, none of the loads; 92,160 wavefronts, 88,064 ideal.

    2,048 warp rounds each store one conflict-free and two 2-way words a lane, load 32 words (1 wavefront)
    and 4 times 16 broadcast bytes (2 wavefronts, and no fewer would do).
    """
    made = program("STS [R0],R1\nSTS [R2],R3\nLDS R4,[R0]\nLDS.128 R4,[R8]")
    n = 2048
    rows = [
        {"executed": n, "requests": n, "wavefronts": n, "ideal": n},
        {"executed": 2 * n, "requests": 2 * n, "wavefronts": 4 * n, "ideal": 2 * n},
        {"executed": 32 * n, "requests": 32 * n, "wavefronts": 32 * n, "ideal": 32 * n},
        {"executed": 4 * n, "requests": 4 * n, "wavefronts": 8 * n, "ideal": 8 * n},
    ]
    values = metrics(made, trace(Launch((32, 1, 1), (256, 1, 1)), rows), kernel())
    for metric, counted in H200["matmul_coarse2"].items():
        if "shared" in metric and not metric.startswith(OCCUPANCY):
            assert values[metric].value == counted, metric
    assert values["derived__memory_l1_wavefronts_shared_excessive"].value == 4096
    assert values["derived__memory_l1_conflicts_shared_nway"].value == pytest.approx(45 / 39)


def test_branches_diverge_and_exit_is_no_target() -> None:
    """10 BRA, 3 of them divergent, 2 unconditional, a CALL and its RET, BSSY and BSYNC, two EXIT."""
    made = program("BSSY B0,0x40\n@P0 BRA 0x40\nBRA 0x50\nCALL.REL.NOINC f\nRET.REL.NODEC R2\nBSYNC B0\nEXIT")
    executed = [1, 10, 2, 1, 1, 4, 2]
    rows = [{"executed": count} for count in executed]
    rows[1] |= {"divergent": 3, "parted": 3}
    values = metrics(made, trace(Launch((1, 1, 1), (32, 1, 1)), rows), kernel())
    assert values["smsp__inst_executed_op_branch.sum"].value == 10 + 2 + 1 + 1 + 4 + 2
    assert values["smsp__sass_branch_targets.sum"].value == 14
    assert values["smsp__sass_branch_targets_threads_divergent.sum"].value == 3
    assert values["smsp__sass_branch_targets_threads_uniform.sum"].value == 11
    assert values["smsp__sass_average_branch_targets_threads_uniform.pct"].value == pytest.approx(100 * 11 / 14)
    assert values["derived__smsp__inst_executed_op_branch_pct"].value == pytest.approx(100 * 20 / 21)


def test_switched_off_accesses_and_async_copies() -> None:
    """As an H200 counted them: 3 of `@!PT LDS`, one LDGSTS.128 of 32 wavefronts, one LDSM.x4 of 16."""
    made = program("@!PT LDS RZ,[RZ]\nLDGSTS.E.BYPASS.128 [R7],[R2.64]\nLDSM.16.M88.4 R12,[R7]\nLDS.128 R8,[R0]")
    rows = [
        {"executed": 3},
        {"executed": 1, "requests": 1, "sectors": 32, "tags": 4, "wavefronts": 32, "ideal": 16, "bytes": 512}
        | {"copy_ideal": 4},
        {"executed": 1, "requests": 1, "wavefronts": 16, "ideal": 4, "bytes": 512},
        {"executed": 1, "requests": 1, "wavefronts": 4, "ideal": 4, "bytes": 512},
    ]
    values = metrics(made, trace(Launch((1, 1, 1), (32, 1, 1)), rows), kernel())
    expected = {
        "smsp__sass_inst_executed_op_memory_32b.sum": 3,
        "smsp__sass_inst_executed_op_memory_128b.sum": 3,
        "smsp__sass_inst_executed_op_shared_ld.sum": 1,
        "smsp__sass_inst_executed_op_global_ld.sum": 0,
        "smsp__inst_executed_op_ldgsts.sum": 1,
        "smsp__inst_executed_op_ldsm.sum": 1,
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1,
        "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum": 0,
        "smsp__sass_sectors_mem_global.sum": 32,
        "memory_l2_theoretical_sectors_global_ideal": 16,
        "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 20,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum": 4,
        "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum": 32,
        "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum": 12,
        "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum": 12,
        "smsp__sass_l1tex_pipe_lsu_wavefronts_mem_shared.sum": 52,
        "memory_l1_wavefronts_shared_ideal": 12,
    }
    assert {name: values[name].value for name in expected} == expected


def test_generic_store_counts_in_each_space_that_it_reached() -> None:
    made = program("ST.E [R2.64],R9\nST.E [R4.64],R9\nSTG.E [R6.64],R9")
    rows = [
        {"executed": 1, "requests": 2, "sectors": 4, "wavefronts": 2, "ideal": 5, "bytes": 128, "generic_bytes": 128},
        {"executed": 1, "requests": 2, "sectors": 16, "wavefronts": 1, "ideal": 3, "bytes": 96, "generic_bytes": 80},
        {"executed": 1, "requests": 1, "sectors": 4, "ideal": 4, "bytes": 128},
    ]
    shared = reached(requests=[1, 1, 0], wavefronts=[2, 1, 0], ideal=[1, 1, 0], bytes=[64, 32, 0])
    local = reached(requests=[0, 1, 0], sectors=[0, 16, 0], ideal=[0, 2, 0], bytes=[0, 64, 0])
    seen = replace(trace(Launch((1, 1, 1), (32, 1, 1)), rows), reached={"shared": shared, "local": local})
    values = metrics(made, seen, kernel())
    expected = {
        "smsp__sass_inst_executed_op_global_st.sum": 2,
        "smsp__sass_inst_executed_op_shared_st.sum": 2,
        "smsp__inst_executed_op_global_st.sum": 1,
        "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum": 1,
        "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum": 16,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum": 8,
        "memory_l2_theoretical_sectors_global_ideal": 8,
        "memory_l1_wavefronts_shared": 3,
        "memory_l1_wavefronts_shared_ideal": 2,
        "smsp__sass_data_bytes_mem_global_op_st.sum": 128 + 80 + 128,
    }
    assert {name: values[name].value for name in expected} == expected
    assert values["smsp__sass_average_data_bytes_per_wavefront_mem_shared.pct"].value == 100 * 208 / (128 * 3)


def test_lines_and_instructions_add_up_to_the_kernel() -> None:
    made, seen = ccopy()
    placed = tuple(replace(one, source=SourceLine("k.cu", 3 + (one.index > 7))) for one in made.instructions[:-1])
    made = replace(made, instructions=(*placed, made.instructions[-1]))
    whole, single, lines = metrics(made, seen, kernel()), by_instruction(made, seen), by_line(made, seen)
    for name in ("smsp__inst_executed.sum", "smsp__sass_sectors_mem_global.sum"):
        assert sum(values[name].value for values in single) == whole[name].value
    assert [place.line for place in lines] == [3, 4]
    assert lines[SourceLine("k.cu", 3)]["smsp__inst_executed.sum"].value == 8 * 8192
    assert lines[SourceLine("k.cu", 4)]["smsp__inst_executed.sum"].value == 7 * 8192  # EXIT has no line
    assert lines[SourceLine("k.cu", 3)]["smsp__sass_sectors_mem_global.sum"].value == 0
    assert single[12]["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"].value == 4


def test_efficiency_is_the_quotient_of_the_sums() -> None:
    """reduce_unroll8_warp's stores on an H200: 1,792 of 128 bytes and 128 of 4 bytes read 98.46 %."""
    made = program("STG.E [R2.64],R9\nSTG.E [R4.64],R9")
    rows = [
        {"requests": 1792, "sectors": 4 * 1792, "bytes": 128 * 1792},
        {"requests": 128, "sectors": 128, "bytes": 4 * 128},
    ]
    values = metrics(made, trace(Launch((1, 1, 1), (32, 1, 1)), rows), kernel())
    name = "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct"
    assert round(values[name].value, 2) == H200["reduce_unroll8_warp"][name]


def test_branch_efficiency_is_the_share_of_targets_that_all_lanes_chose() -> None:
    """10 executions, of which 4 chose 2, 2, 3 and 3 targets: 6 uniform targets and 6 divergent ones."""
    made = program("BRA `(.L_x_0)\nEXIT")
    rows = [{"executed": 10, "parted": 4, "divergent": 6}, {"executed": 10}]
    values = metrics(made, trace(Launch((1, 1, 1), (320, 1, 1)), rows), kernel())
    assert values["smsp__sass_branch_targets.sum"].value == 12
    assert values["smsp__sass_branch_targets_threads_uniform.sum"].value == 6
    assert values["smsp__sass_branch_targets_threads_divergent.sum"].value == 6
    assert values["smsp__sass_average_branch_targets_threads_uniform.pct"].value == 50


def test_provenance() -> None:
    made, seen = ccopy()
    values = metrics(made, seen, kernel())
    assert values["smsp__inst_executed.sum"].provenance == "exact"
    assert values["l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"].provenance == "modelled"
    partial = metrics(made, replace(seen, blocks_run=16), kernel())
    assert partial["smsp__inst_executed.sum"].provenance == "sampled"
    assert partial["launch__grid_size"].provenance == "exact"


@pytest.mark.parametrize(
    ("arch", "loads", "stores"),
    [("sm_75", 1, 4), ("sm_80", 3, 4), ("sm_86", 3, 12), ("sm_89", 3, 4), ("sm_90", 3, 20)],
)
def test_hardware_wavefronts_include_what_the_chip_includes(arch: str, loads: int, stores: int) -> None:
    """LDS 1, LDSM 2, STS 4, LDGSTS 8, STSM 16 wavefronts."""
    made = program("LDS R0,[R0]\nLDSM.16.M88.2 R0,[R0]\nSTS [R0],R1\nLDGSTS.E [R0],[R2]\nSTSM.16.M88 [R0],R1", arch)
    rows = [{"requests": 1, "wavefronts": 1 << power} for power in range(5)]
    values = metrics(made, trace(Launch((1, 1, 1), (32, 1, 1)), rows), kernel(arch))
    name = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
    assert (values[name.format("ld")].value, values[name.format("st")].value) == (loads, stores)


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_120"])
def test_no_name_stands_twice_on_a_chip(arch: str) -> None:
    names = [formula.name for formula in formulas(arch)]
    assert len(names) == len(set(names))


def test_names_that_only_some_chips_have() -> None:
    names = {arch: {formula.name for formula in formulas(arch)} for arch in ("sm_75", "sm_86", "sm_90")}
    stores = "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"
    assert [stores in names[arch] for arch in names] == [False, True, False]
    matrix = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum"
    assert [matrix in names[arch] for arch in names] == [False, False, True]
    copies = "smsp__inst_executed_op_ldgsts.sum"
    assert [copies in names[arch] for arch in names] == [False, True, True]


def test_mixes_and_flops() -> None:
    made = program("FFMA R0,R1,R2,R3\nFADD R0,R1,R2\nHFMA2 R0,R1,R2,R3\nIMAD.MOV R0,RZ,RZ,R1\nIMAD R0,R1,R2,R3")
    rows = [{"executed": n, "threads": 32 * n, "threads_on": 16 * n} for n in (5, 3, 2, 1, 4)]
    seen = trace(Launch((1, 1, 1), (32, 1, 1)), rows)
    assert list(opcode_mix(made, seen).items()) == [("FFMA", 5), ("IMAD", 5), ("FADD", 3), ("HFMA2", 2)]
    assert category_mix(made, seen) == {
        "single precision": 8,
        "integer": 4,
        "half precision": 2,
        "move and select": 1,
    }
    assert flops(metrics(made, seen, kernel())) == {"f": 16 * (2 * 5 + 3), "d": 0, "h": 2 * 2 * 16 * 2}


MODELLED = {"sm_90": 26, "sm_100": 34, "sm_120": 26}  # counters; 18 before


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"])
def test_each_metric_has_the_label_of_its_family(arch: str) -> None:
    """docs/provenance.md, "By family": the counters that an H200 reads higher than the addresses say, and those of
    textures, surfaces and bulk copies."""
    families = re.compile(
        r"l1tex__t_sectors_pipe_lsu_mem_global_op_(atom|red)\.sum"
        r"|l1tex__data_(pipe_lsu_wavefronts|bank_conflicts_pipe_lsu)_mem_shared(_op_(ld|st|atom))?\.sum"
        r"|l1tex__t_(requests|sectors)_pipe_tex_mem_(texture|surface_op_(ld|st|red))\.sum"
        r"|l1tex__m_.*_(sectors|bytes)_mem_(global|dshared)_op_tma_(ld|st|red)\.sum"
        r"|sms?p?__inst_executed_pipe_(tc(_scope_[12]cta)?|tmem)\.sum"  # of tcgen05, which no B200 has confirmed
    )
    labels = {formula.name: formula.provenance for formula in formulas(arch)}
    assert labels == {name: "modelled" if families.fullmatch(name) else "exact" for name in labels}
    assert sum(label == "modelled" for label in labels.values()) == MODELLED.get(arch, 18)
