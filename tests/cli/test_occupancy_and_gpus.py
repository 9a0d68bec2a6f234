"""`occupancy` and `gpus` on the command line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from warplens.cli.main import main

ROOT = Path(__file__).parents[2]
CUBIN = str(ROOT / "tests" / "data" / "kernels.sm_90.cubin")


def test_occupancy_by_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["occupancy", "--registers", "64", "--block", "16,16", "--gpu", "h200"]) == 0
    # 64 registers x 256 threads are 16,384 of 65,536: 4 blocks of 8 warps, of 64
    assert capsys.readouterr().out.startswith("the block: 50 % occupancy, limited by registers\n")


@pytest.mark.parametrize(("registers", "status"), [("0", 0), ("255", 0), ("256", 2)])
def test_a_thread_has_0_to_255_registers(registers: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["occupancy", "--registers", registers, "--block", "32", "--gpu", "h200"]) == status
    assert ("a thread can have 0 to 255" in capsys.readouterr().err) == (status == 2)


def test_occupancy_of_a_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["occupancy", CUBIN, "--kernel", "matmul_tiled", "--block", "1024", "--gpu", "h200"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("matmul_tiled: 100 % occupancy")
    assert "2,048 bytes static" in out


@pytest.mark.parametrize(
    ("block", "says"),
    [
        (["--registers", "32", "--block", "2048"], "the block: invalid launch configuration: .* has x = 2048"),
        (["--registers", "32", "--block", "64,32"], "a block of 64 x 32 x 1 is 2048 threads; .* takes 1024"),
        (["--registers", "255", "--block", "1024"], "1024 threads of 255 registers take 262144 registers .* 65536"),
        (["--registers", "32", "--block", "32", "--shared", "300000"], "300000 of dynamic shared memory; .* 232448"),
        (["--registers", "32", "--block", "32", "--barriers", "17"], "17 is not in the range 0<=x<=16"),
        ([CUBIN, "--kernel", "matmul_tiled", "--block", "2048"], "matmul_tiled: invalid launch .* x = 2048"),
    ],
)  # fmt: skip
def test_occupancy_of_a_block_that_no_gpu_starts(
    block: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["occupancy", *block, "--gpu", "h200"]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert re.search(says, error)


def test_gpus_lists_every_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gpus"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()[1:]}
    assert listed == {path.stem for path in (ROOT / "src" / "warplens" / "machine").glob("*.toml")}


def test_gpus_lists_the_numbers_of_one(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    assert main(["gpus", "--numbers", "l4"]) == 0
    out = capsys.readouterr().out
    assert re.match(r"NVIDIA L4: \d+ numbers of its own and of sm_89; \d+ others are inherited from h200.toml\n", out)
    sections = out.split("\n\n")[1:]
    assert all(re.match(r"  \w+\.toml: (measured|published|assumed): ", section) for section in sections)
    (barrier,) = (section for section in sections if re.search(r"^latency_cycles\.barrier +11 +cycles$", section, re.M))
    assert barrier.startswith("  h200.toml: measured: ")
    (write,) = (
        section for section in sections if re.search(r"^dram_rates\.write_share +0\.979 +share$", section, re.M)
    )
    assert write.startswith("  l4.toml: published: ")
