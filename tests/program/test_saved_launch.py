"""Saved launches: executed again, they count what they did in the program."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warplens as wl
from helpers.whole_program import Ran, run
from warplens.cli.main import main
from warplens.errors import KernelFault, UsageError
from warplens.program.arena import GRANULARITY
from warplens.program.saved_launch import SaveRequest, is_saved_launch, read, same_kernel

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="`warplens run` works on Linux alone")
TIME = "gpu__time_duration.sum"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("saved")


@pytest.fixture
def saved(capfd: pytest.CaptureFixture[str], folder: Path, registered: Path) -> tuple[Path, dict[str, Any]]:
    """The fourth launch of `scale`, and the program's document."""
    file, document = folder / "scale.npz", folder / "run.json"
    if not file.exists():
        ran = run(capfd, folder, registered, options=("--save-launch", "scale:4", str(file), "--launches", "all"))
        assert ran.code == 0, ran.err
        assert "launch 4 of scale is saved in" in " ".join(ran.err.split())
        assert [one for one in folder.iterdir() if one.name.startswith(".")] == []
    return file, json.loads(document.read_text())


def test_it_counts_as_in_the_program(saved: tuple[Path, dict[str, Any]]) -> None:
    file, document = saved
    run_of_it = read(str(file)).run()
    told = document["launches"][3]["metrics"]
    assert {name: metric.value for name, metric in run_of_it.metrics.items()}.items() >= {
        name: told[name]["value"] for name in run_of_it.metrics if told[name]["provenance"] == "exact"
    }.items()
    assert run_of_it.predict().metrics[TIME].value == pytest.approx(told[TIME]["value"], rel=1e-6)


def test_its_memory_is_that_before_the_launch(saved: tuple[Path, dict[str, Any]]) -> None:
    """Three launches have added 3 * i to each element; the fourth, executed here, makes it four, each time anew."""
    launch = read(str(saved[0]))
    added = {
        entry["name"]: launch.arrays[f"block_{number}"].view(np.float32)[: 1 << 16]
        for number, entry in enumerate(launch.header["allocations"])
        if entry["kept"] and entry["size"] == (4 << 16) + GRANULARITY
    }
    first, second = sorted(added.values(), key=lambda content: content[1])
    np.testing.assert_array_equal(first, np.arange(1 << 16, dtype=np.float32))
    np.testing.assert_array_equal(second, 9 * np.arange(1 << 16, dtype=np.float32))
    for _ in range(2):
        again = launch.run().again
        assert again
    np.testing.assert_array_equal(second, 9 * np.arange(1 << 16, dtype=np.float32))


def test_explain_says_of_it_what_it_says_of_a_kernel(
    capfd: pytest.CaptureFixture[str], saved: tuple[Path, dict[str, Any]]
) -> None:
    file, document = saved
    assert main(["explain", "--from", str(file), "--check", "all", "--what-if", "ideal_access"]) == 0
    out = capfd.readouterr().out
    for text in ("Kernel   scale of registered, sm_90", "What If", "Hottest Instructions", "races"):
        assert text in out
    assert main(["explain", "--from", str(file.parent / "run.json"), "--kernel", "scale", "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    name = "smsp__inst_executed.sum"
    assert found["metrics"][name] == document["kernels"][0]["metrics"][name]
    assert found["gpu"] == "h200"
    assert found["prediction"]["time_us"] > 0


def test_two_of_them_are_compared(capfd: pytest.CaptureFixture[str], saved: tuple[Path, dict[str, Any]]) -> None:
    file = str(saved[0])
    assert main(["compare", file, file]) == 0
    assert "scale executes as many instructions as scale" in " ".join(capfd.readouterr().out.split())


def test_a_launch_that_faults_is_saved_and_faults_again(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    file = tmp_path / "stray.npz"
    ran = run(capfd, tmp_path, registered, "stray", options=("--save-launch", "stray", str(file)))
    with pytest.raises(KernelFault) as fault:
        read(str(file)).run()
    assert str(fault.value) in ran.document["faults"][0]


def test_a_launch_that_repeats_another_is_saved_too(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path
) -> None:
    file = tmp_path / "repeated.npz"
    ran = run(capfd, tmp_path, registered, "repeat", options=("--save-launch", "scale:1000", str(file)))
    assert ran.document["saved"] == [{"kernel": "scale", "number": 1000, "file": str(file)}]
    assert read(str(file)).run()["smsp__inst_executed.sum"] == ran.kernel("scale")["metrics"][
        "smsp__inst_executed.sum"
    ]["value"]  # fmt: skip


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["explain", *arguments]) == 2
    return capfd.readouterr().err


def test_what_is_wrong_is_said(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, registered: Path, saved: tuple[Path, dict[str, Any]]
) -> None:
    file = saved[0]
    run_json = str(file.parent / "run.json")
    assert "explain takes a FILE, or --from with one" in said(capfd)
    assert "no saved launch of other (saved: scale): run the program with --save-launch other:1 other.npz" in said(
        capfd, "--from", run_json, "--kernel", "other"
    )
    assert "neither a launch of" in said(capfd, "--from", str(registered))
    assert "No such file" in said(capfd, "--from", str(tmp_path / "nothing"))
    assert "--grid: a saved launch is as the program made it" in said(capfd, "--from", str(file), "--grid", "3")
    assert "save the launch with `warplens run --gpu a100`" in said(capfd, "--from", str(file), "--gpu", "a100")
    ran: Ran = run(capfd, tmp_path, registered, options=("--save-launch", "scale:9", str(tmp_path / "no.npz")))
    assert "--save-launch scale:9: scale was launched 4 times" in ran.document["notes"]
    assert not (tmp_path / "no.npz").exists()
    assert main(["run", "--save-launch", "scale:0", "f", "--", "true"]) == 2


def test_a_damaged_file_is_refused(tmp_path: Path, saved: tuple[Path, dict[str, Any]]) -> None:
    whole = saved[0].read_bytes()
    random = np.random.default_rng(1)
    refused = 0
    for _ in range(40):
        data = bytearray(whole)
        at = int(random.integers(len(data)))
        data[at] ^= 1 << int(random.integers(8))
        broken = tmp_path / "broken.npz"
        broken.write_bytes(data[: at + 1] if random.integers(2) else data)
        try:
            read(str(broken))
        except UsageError as error:
            refused += "damaged" in str(error)
    assert refused > 15
    with np.load(saved[0]) as archive:
        arrays = dict(archive)
    for wrong in ({"grid": [0, 1, 1]}, {"kernel": 3}, {"allocations": [{}]}, {"version": 2}, {"banks": [77]}):
        header = json.loads(arrays["header"].tobytes()) | wrong
        np.savez(tmp_path / "wrong.npz", **{**arrays, "header": np.frombuffer(json.dumps(header).encode(), np.uint8)})
        with pytest.raises(UsageError):
            read(str(tmp_path / "wrong.npz"))


def test_a_kernel_is_the_same_where_a_parameter_has_become_const() -> None:
    """Its symbol is another: _Z4copyPfS_ and _Z4copyPKfPf."""
    launches = "__global__ void copy({} float* x, float* y) {{ *y = *x; }}\n"
    before, after = (wl.compile(source=launches.format(word)) for word in ("", "const"))
    (symbol,), (changed,) = before.cubin.kernels, after.cubin.kernels
    assert symbol != changed == same_kernel(symbol, after)
    own = "namespace { __global__ void k(float* x) { *x = 1; } }\n__device__ void* use() { return (void*)k; }\n"
    here, there = (wl.compile(source=f"{own}// {text}\n") for text in ("here", "there"))
    assert same_kernel(*here.cubin.kernels, there) == next(iter(there.cubin.kernels))
    both = wl.compile(source=launches.format("const") + launches.format("volatile"))
    with pytest.raises(UsageError, match="the changed code has several kernels copy"):
        same_kernel(symbol, both)
    with pytest.raises(UsageError, match="the changed code has no kernel copy"):
        same_kernel(symbol, wl.compile(source="__global__ void other() {}"))


def test_a_request_names_a_kernel_and_a_number() -> None:
    assert SaveRequest.of("scale:3", "f") == SaveRequest("scale", 3, "f")
    assert SaveRequest.of("app::scale", "f") == SaveRequest("app::scale", 1, "f")
    assert SaveRequest.of("app::scale<float>:2", "f").number == 2
    request = SaveRequest("scale", 2, "f")
    assert [request.next(name) for name in ("scale", "other", "app::scale<int>", "scale")] == [
        False,
        False,
        True,
        False,
    ]
    assert not is_saved_launch(__file__)


def test_the_stack_that_the_program_asked_for_is_kept(tmp_path: Path, saved: tuple[Path, dict[str, Any]]) -> None:
    launch = read(str(saved[0]))
    assert launch.header["stack"] == 1024
    for stack in (4096, 1 << 30, "deep"):
        header = json.dumps(launch.header | {"stack": stack}).encode()
        np.savez(tmp_path / "deep.npz", **(launch.arrays | {"header": np.frombuffer(header, np.uint8)}))
        if stack == 4096:
            request = read(str(tmp_path / "deep.npz")).run().again
            assert request is not None
            assert request.stack_bytes == 4096
        else:
            with pytest.raises(UsageError, match="damaged"):
                read(str(tmp_path / "deep.npz"))
