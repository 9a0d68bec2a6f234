"""Whole programs: Python and C, driver and runtime API; faults, crashes, what is not provided."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from helpers.whole_program import PROGRAMS, built, run
from warplens.cli.main import main
from warplens.program.device import Device
from warplens.report.program_view import PURPOSE

LAUNCH_US = 3.4  # of the host, between an event that it records and the start of the kernel that it launches then
FIRST_LAUNCH_US = 25.3  # more, of the first launch of a program that has loaded the kernel before
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")


def test_a_python_program_of_the_driver_api(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "driver.py")
    assert ran.code == 7, ran.err
    passed, timed = ran.out.splitlines()
    assert passed == "PASS"
    kernel = ran.kernel("add")
    assert (kernel["launches"], kernel["launch"]["grid"]) == (1, [256, 1, 1])
    assert float(timed.split()[1]) == pytest.approx(kernel["time_us"] + LAUNCH_US + FIRST_LAUNCH_US, abs=0.1)
    assert kernel["low_us"] < kernel["time_us"] < kernel["high_us"]
    assert kernel["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"]["value"] == 2 * (1 << 16) / 8
    assert ran.document["copies"]["host to device"] == {
        "count": 2, "bytes": 1 << 19, "time_us": pytest.approx(73, 0.1), "pageable_bytes": 1 << 19,
    }  # fmt: skip
    assert ran.document["copies"]["device to host"]["count"] == 2
    assert " ".join(ran.err.split()).startswith(" ".join(PURPOSE.split()))


def test_a_c_program_of_the_runtime_api(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    ran = run(capfd, tmp_path, registered)
    assert ran.code == 0, ran.out + ran.err
    first, *others = ran.out.splitlines()
    passed, _, events, _, host = first.split()
    assert passed == "PASS"
    kernel = ran.kernel("scale")
    assert kernel["launches"] == 4
    assert kernel["time_us"] - 0.1 <= float(events) <= float(host)
    assert others == [
        "memory 801",
        "too many cudaErrorInvalidConfiguration",
        "last cudaErrorInvalidConfiguration then cudaSuccess",
        "freed twice cudaErrorInvalidValue",
    ]
    assert ran.document["missing"] == ["cudaImportExternalMemory"]
    assert "answered with error 801: cudaImportExternalMemory" in ran.err


def test_a_launch_for_which_the_host_has_no_space_is_refused(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Device, "launch", full)
    ran = run(capfd, tmp_path, registered)
    assert "refused with error 801: [Errno 28] No space left on device" in " ".join(ran.err.split())
    assert "closed its connection" not in ran.err


def test_launches_that_repeat_others_are_not_executed(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    ran = run(capfd, tmp_path, registered, "repeat")
    assert ran.out == "PASS\n", ran.err
    kernel = ran.kernel("scale")
    assert (kernel["launches"], kernel["executed"]) == (2001, 2)
    assert kernel["time_us"] / 2001 == pytest.approx(kernel["low_us"] / 2001, rel=0.3)


def test_copies_of_two_streams_overlap(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    ran = run(capfd, tmp_path, registered, "streams")
    passed, microseconds = ran.out.split()
    assert passed == "PASS", ran.err
    one = ran.document["copies"]["host to device"]["time_us"]
    assert one == pytest.approx((1 << 24) / 55_400 + 9.3, abs=0.1)  # the link of machine/h200.toml
    assert one <= float(microseconds) < 1.6 * one


def test_a_fault_is_reported_and_stays(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    report = tmp_path / "report.txt"
    ran = run(capfd, tmp_path, registered, "stray", options=("--real-time", "--report", str(report)))
    assert ran.out == "launch 0 synchronize cudaErrorIllegalAddress malloc cudaErrorIllegalAddress\n"
    (fault,) = ran.document["faults"]
    assert "\n" + fault + "\n" in "\n" + ran.err  # also where the report goes to a file
    assert report.read_text().startswith(PURPOSE[:40])
    assert "out-of-bounds global write of 4 bytes" in fault
    assert "past the end of allocation 1 at 0x200000000000 (4,096 bytes)" in fault
    assert "source.cu:8, stray at" in fault
    assert "block (0,0,0), thread (0,0,0)" in fault


def test_what_no_gpu_reports_is_noted(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    """Four million bytes into an allocation of two: its last page has room left."""
    ran = run(capfd, tmp_path, registered, "near")
    assert ran.out == "launch 0 synchronize cudaSuccess malloc cudaSuccess\n"
    assert ran.document["faults"] == []
    (note,) = (note for note in ran.document["notes"] if note.startswith("stray"))
    assert "out-of-bounds global write of 4 bytes" in note
    assert "no error on a GPU" in note
    checked = run(capfd, tmp_path, registered, "near", options=("--check=all",)).document
    assert "out-of-bounds global write of 4 bytes" in str(checked["check"])
    assert not any("no error on a GPU" in note for note in checked["notes"])


def test_a_static_runtime_in_a_library_that_is_loaded_later_is_replaced(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    plugin = built("plugin.c", tmp_path, "-shared", "-fPIC")
    lines = (
        "import ctypes, sys",
        "plugin = ctypes.CDLL(sys.argv[1])",
        "print(plugin.version_at_load(), plugin.version_now())",
    )
    ran = run(capfd, tmp_path, sys.executable, "-c", "; ".join(lines), plugin)
    assert ran.out == "13000 13000\n", ran.err


def test_the_runtime_of_cuda_bindings_is_replaced(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lines = (
        "from cuda.bindings import driver, runtime",
        "print(runtime.cudaGetDeviceProperties(0)[1].name, *map(int, runtime.cudaDeviceSynchronize()))",
        "print(*map(int, driver.cuCtxGetDevice() + driver.cuCtxSynchronize()))",
    )
    ran = run(capfd, tmp_path, sys.executable, "-c", "\n".join(lines))
    assert ran.out == "b'NVIDIA H200 SXM' 0\n0 0 0\n", ran.err


def test_an_endless_kernel_ends(capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path) -> None:
    ran = run(capfd, tmp_path, registered, "endless", options=("--budget", "100000"))
    assert ran.out == "synchronize cudaErrorLaunchTimeout\n"
    assert "endless loop? a warp executed more than 100,000 instructions" in ran.document["faults"][0]


def test_a_program_that_crashes_leaves_its_report(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    ran = run(capfd, tmp_path, registered, "abort")
    assert ran.code == 128 + signal.SIGABRT
    assert ran.document["kernels"] == []


def test_a_program_without_cuda_and_one_that_is_not_there(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    ran = run(capfd, tmp_path, "sh", "-c", "echo here; exit 3")
    assert (ran.code, ran.out) == (3, "here\n")
    assert main(["run", "--", str(tmp_path / "nothing")]) == 2
    assert "cannot run" in capfd.readouterr().err


def test_ctrl_c_ends_with_the_report_so_far(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def interrupt() -> None:
        time.sleep(2)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    ran = run(capfd, tmp_path, "sleep", "100")
    assert ran.code == 130
    assert ran.document["ended"] == "interrupted by Ctrl-C"


@pytest.mark.long
def test_a_program_of_numba(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    pytest.importorskip("numba")
    ran = run(capfd, tmp_path, sys.executable, PROGRAMS / "numba_add.py")
    assert ran.out == "PASS\n", ran.err
    assert ran.kernel("add")["launches"] == 1


NVCC, GXX = shutil.which("nvcc"), shutil.which("g++")


@pytest.mark.long
@pytest.mark.skipif(
    not (NVCC and GXX), reason="needs nvcc and g++; test_a_c_program_of_the_runtime_api has the same paths"
)
@pytest.mark.parametrize("runtime", ["static", "shared"])
def test_a_program_that_nvcc_builds(capfd: pytest.CaptureFixture[str], tmp_path: Path, runtime: str) -> None:
    ran = run(capfd, tmp_path, PROGRAMS / "saxpy.cu", "--", "unused", options=(f"--nvcc=-cudart={runtime}",))
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.splitlines()[-1] == "PASS"
    assert "hello from 65536" in ran.out
    assert {kernel["kernel"] for kernel in ran.document["kernels"]} == {"fill", "saxpy"}
