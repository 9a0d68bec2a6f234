"""Rates: counts per cycle, per second and in percent of a peak, under Nsight Compute's names.

Which pipe counts an instruction was measured on an H200 (measurements/h200/pipe_counts.csv), so only sm_90 has pipe
metrics.  The peak of a pipe that an instruction occupies for n cycles is 1/n instructions a cycle per sub-partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from warplens.core.counts import Trace
from warplens.core.metric import Metric
from warplens.core.program import Instruction, Program
from warplens.machine import Machine
from warplens.model.instruction.instruction_table import pipe_of

# Pipe of an opcode -> pipe whose counter counts it.  FP16 additions are executed by fma_heavy.
COUNTED_BY = {
    "adu": "adu", "alu": "alu", "cbu": "cbu", "fma": "fma", "fma_heavy": "fma", "fp16": "fma", "fp64": "fp64",
    "lsu": "lsu", "xu": "xu",
}  # fmt: skip
WITH_PEAK = ("alu", "fma", "fp64", "xu")  # pipes whose cycles per instruction were measured
ARCH = "sm_90"


def rates(
    machine: Machine, program: Program, trace: Trace, found: Mapping[str, Metric], duration_us: float
) -> dict[str, Metric]:
    """Metrics derived from those of a prediction."""
    elapsed, parts = found["gpc__cycles_elapsed.max"].value, machine.limits.sub_partitions
    made = {f"sm__cycles_elapsed.{of}": Metric(elapsed, "cycle", "modelled") for of in ("avg", "max")}
    for cycles in ("active", "elapsed"):
        each = found[f"sm__inst_executed.avg.per_cycle_{cycles}"].value / parts
        made[f"smsp__inst_executed.avg.per_cycle_{cycles}"] = Metric(each, "inst/cycle", "modelled")
        made[f"sm__inst_executed.avg.pct_of_peak_sustained_{cycles}"] = Metric(100 * each, "%", "modelled")
    read, written = (found[f"dram__bytes_{way}.sum"].value for way in ("read", "write"))
    made["dram__bytes.sum"] = Metric(read + written, "byte", "modelled")
    for name, moved in (("", read + written), ("_read", read), ("_write", written)):
        made[f"dram__bytes{name}.sum.per_second"] = Metric(1e6 * moved / duration_us, "byte/s", "modelled")
    percent = 100 * (read + written) / (1e3 * duration_us * machine.dram_gigabytes_per_second)
    for name in ("dram__throughput", "gpu__dram_throughput"):
        made[f"{name}.avg.pct_of_peak_sustained_elapsed"] = Metric(percent, "%", "modelled")
    if machine.arch.rstrip("af") == ARCH:
        made |= _pipes(machine, program, trace, found["sm__cycles_active.avg"].value)
    return made


def _pipes(machine: Machine, program: Program, trace: Trace, active: float) -> dict[str, Metric]:
    executed: Counter[str] = Counter()
    for instruction in program.instructions:
        executed[counted_by(instruction)] += int(trace.executed[instruction.index])
    made = {}
    for pipe in sorted(set(COUNTED_BY.values())):
        unit = "smsp" if pipe == "adu" else "sm"  # sm__inst_executed_pipe_adu is 2 more in all 81 kernels
        made[f"{unit}__inst_executed_pipe_{pipe}.sum"] = Metric(executed[pipe], "inst", "modelled")
    for pipe in WITH_PEAK:
        most = (
            machine.multiprocessors * machine.limits.sub_partitions * active / getattr(machine.speeds, f"pipe_{pipe}")
        )
        percent = Metric(100 * executed[pipe] / most, "%", "modelled")
        made[f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active"] = percent
    return made


def counted_by(instruction: Instruction) -> str:
    """Pipe whose counter counts an instruction, "" if none of these: lsu for special registers, which adu reads in
    the model."""
    return "lsu" if instruction.base == "S2R" else COUNTED_BY.get(pipe_of(instruction), "")
