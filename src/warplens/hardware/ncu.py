"""Nsight Compute: counters of launches, read in a process of its own."""

from __future__ import annotations

import csv
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from warplens.core.metric import Metric
from warplens.errors import HardwareError, KernelFault
from warplens.hardware.launch_job import Job

_SASS = "smsp__sass_"
_MOVES = ("op_ld", "op_st")

COUNTERS: tuple[str, ...] = (
    "smsp__inst_executed.sum",
    "smsp__inst_executed_op_branch.sum",
    "smsp__thread_inst_executed.sum",
    "smsp__thread_inst_executed_pred_on.sum",
    *(f"{_SASS}branch_targets{what}.sum" for what in ("", "_threads_divergent", "_threads_uniform")),
    *(f"{_SASS}inst_executed_op_{space}_{way}.sum" for space in ("global", "shared") for way in ("ld", "st")),
    *(f"{_SASS}inst_executed_op_memory_{bits}b.sum" for bits in (8, 32, 128)),
    *(f"smsp__inst_executed_op_local_{way}.sum" for way in ("ld", "st")),
    *(f"{_SASS}thread_inst_executed_op_{name}_pred_on.sum" for name in ("fadd", "fmul", "ffma")),
    f"{_SASS}sectors_mem_global.sum",
    f"{_SASS}sectors_mem_local.sum",
    f"{_SASS}l1tex_tags_mem_global.sum",
    *(f"{_SASS}l1tex_t_sectors_pipe_lsu_mem_global_op_{way}.sum" for way in ("atom", "red")),
    *(f"{_SASS}l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{way}.sum" for way in ("ld", "st", "atom")),
    *(f"{_SASS}data_bytes_mem_{space}_{way}.sum" for space in ("global", "shared") for way in _MOVES),
    f"{_SASS}average_data_bytes_per_wavefront_mem_shared.pct",
    *(f"l1tex__t_{what}_pipe_lsu_mem_{space}_{way}.sum"
      for what in ("requests", "sectors") for space in ("global", "local") for way in _MOVES),
    *(f"l1tex__t_requests_pipe_lsu_mem_global_op_{way}.sum" for way in ("atom", "red")),
    *(f"memory_l1_wavefronts_shared{ideal}" for ideal in ("", "_ideal")),
    *(f"memory_l2_theoretical_sectors_{space}" for space in ("global", "global_ideal", "local")),
)  # fmt: skip
"""What an H200 has of the metrics that follow from the instructions and the addresses."""

KEEP = ("--clock-control", "none")  # as the kernel runs without a profiler
CACHES = {False: ("--cache-control", "none"), True: ("--cache-control", "all")}
FORBIDDEN = "ERR_NVGPUCTRPERM"


def measure(
    jobs: Sequence[Job], names: Sequence[str] = COUNTERS, seconds: float | None = None, cold: bool = False
) -> list[dict[str, Metric]]:
    """The counters of each launch, with provenance `measured`; at most `seconds` for all of them; with caches emptied
    before each where `cold`.

    HardwareError where ncu is missing, may not read the counters, or reads none; KernelFault from a launch.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise HardwareError("ncu is not on the PATH: install Nsight Compute, or compare with --against FILE")
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        for number, job in enumerate(jobs):
            job.save(Path(folder, f"{number:06}.npz"))
        log = Path(folder, "ncu.csv")
        command = [
            ncu, *KEEP, *CACHES[cold], "--csv", "--page", "raw", "--print-units", "base", "--log-file", str(log),
            "--metrics", ",".join(names), sys.executable, "-m", "warplens.hardware.replay", folder,
        ]  # fmt: skip
        done = _run(command, seconds)
        output = log.read_text(encoding="utf-8") if log.exists() else ""
    if FORBIDDEN in output + done.stdout + done.stderr:
        raise HardwareError(
            "this user may not read the GPU's counters (ERR_NVGPUCTRPERM): run as root, or load the nvidia module "
            "with NVreg_RestrictProfilingToAdminUsers=0"
        )
    if done.returncode:
        reason = next((line for line in done.stderr.splitlines() if line.startswith("error: ")), "")
        kind = KernelFault if done.returncode == KernelFault.exit_code else HardwareError
        raise kind(reason.removeprefix("error: ") or f"ncu ended with {done.returncode}: {_last_output(output, done)}")
    found = list(read_csv(output))
    if len(found) != len(jobs):
        raise HardwareError(f"ncu saw {len(found)} of {len(jobs)} launches: {output.strip()[-300:]}")
    return found


def _last_output(log: str, done: subprocess.CompletedProcess[str]) -> str:
    """Its last output; without a home directory, or with another user's lock in /tmp, it writes no log."""
    return (log.strip() or done.stdout.strip() or done.stderr.strip())[-300:] or "it printed nothing; try it by itself"


def _run(command: Sequence[str], seconds: float | None) -> subprocess.CompletedProcess[str]:
    """In a process group of its own, so that an end put to it ends the profiled process as well."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=_environment(), text=True, start_new_session=True, **pipes) as ncu:  # type: ignore[call-overload]
        try:
            out, err = ncu.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(ncu.pid, signal.SIGKILL)
            raise HardwareError(f"Nsight Compute took longer than {seconds:g} s") from None
        return subprocess.CompletedProcess(command, ncu.returncode, out, err)


def _environment() -> Mapping[str, str]:
    """The child finds this package wherever it was imported from."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def read_csv(text: str) -> Iterator[dict[str, Metric]]:
    """The rows of `ncu --csv --page raw`: names, units, then one row a launch.  Other lines begin with "==" ."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = csv.DictReader(lines)
    units = next(rows, {})
    for row in rows:
        yield {
            name: Metric(_number(value), units[name], "measured")
            for name, value in row.items()
            if ("__" in name or name.startswith("memory_")) and _is_number(value)
        }


def _is_number(text: str) -> bool:
    try:
        _number(text)
    except ValueError:
        return False
    return True


def _number(text: str) -> float | int:
    plain = text.replace(",", "")
    return int(plain) if plain.lstrip("-").isdigit() else float(plain)
