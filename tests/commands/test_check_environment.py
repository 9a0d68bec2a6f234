"""`warplens check` says the same on every machine, whatever its processors, locale, time zone, home and GPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.lab_kernels import LABS

BLOCK = """
// /// warplens
// [copy]
// grid = 4
// block = 256
// args = ["random f32[1024]", "zeros f32[1024]", 1024]
// ///
"""
COPY = (LABS / "coalescing" / "1_ccopy.cu").read_text(encoding="utf-8") + BLOCK
NOWHERE = "/dev/null/nowhere"  # no folder can be made there, not even by root
ENVIRONMENTS: dict[str, dict[str, str | None]] = {
    "one processor": {"WARPLENS_THREADS": "1"},
    "three processors": {"WARPLENS_THREADS": "3"},
    "another locale": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONUTF8": "0"},
    "another time zone": {"TZ": "Pacific/Kiritimati"},
    "another hash seed": {"PYTHONHASHSEED": "7"},
    "no home": {"HOME": None, "XDG_CACHE_HOME": None},
    "another GPU": {"WARPLENS_GPU": "t4"},
    "a wide terminal": {"COLUMNS": "300"},
    "no cache": {"WARPLENS_CACHE": "off"},
    "a home that cannot be written to": {"HOME": NOWHERE, "XDG_CACHE_HOME": NOWHERE, "WARPLENS_CACHE": None},
}


def checked(folder: Path, changes: dict[str, str | None], *arguments: str) -> tuple[int, str]:
    environment = {**os.environ, **{name: value for name, value in changes.items() if value is not None}}
    for name in (name for name, value in changes.items() if value is None):
        environment.pop(name, None)
    command = [sys.executable, "-m", "warplens", "check", "k.cu", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline, and a kernel that got worse."""
    made = tmp_path_factory.mktemp("environments")
    (made / "k.cu").write_text(COPY)
    assert checked(made, {}, "--save")[0] == 0
    (made / "k.cu").write_text(COPY.replace("in[i];", "in[2 * i % n];"))
    return made


@pytest.mark.long
@pytest.mark.every(4)
@pytest.mark.parametrize("which", ENVIRONMENTS)
def test_the_same_verdict_everywhere(folder: Path, which: str) -> None:
    code, output = checked(folder, {})
    assert (code, "FAIL" in output) == (1, True)
    assert checked(folder, ENVIRONMENTS[which]) == (code, output)


@pytest.mark.long
def test_the_same_baseline_everywhere(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "k.cu", tmp_path)
    texts = []
    for where in (folder, tmp_path):
        changes: dict[str, str | None] = {"TZ": "Asia/Tokyo", "PYTHONHASHSEED": "3"} if where == tmp_path else {}
        assert checked(where, changes, "--save", "--baseline", "other.toml")[0] == 0
        texts.append((where / "other.toml").read_bytes())
    assert texts[0] == texts[1]


@pytest.mark.long
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_checkout_and_a_home_that_are_read_only(folder: Path) -> None:
    """In a mount namespace of its own, in which the folder with both is read-only, for root too."""
    script = (
        f"mount --bind '{folder}' '{folder}' && mount -o remount,bind,ro '{folder}' || exit 99\n"
        f"touch '{folder}/x' 2> /dev/null && exit 98\ncd '{folder}' && exec '{sys.executable}' -m warplens check k.cu"
    )
    environment = {**os.environ, "HOME": str(folder / "home")}
    for name in ("WARPLENS_CACHE", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    done = subprocess.run(
        ["unshare", "-rm", "bash", "-c", script], env=environment, capture_output=True, text=True, check=False
    )  # fmt: skip
    if done.returncode not in (0, 1, 2, 3, 4) or not done.stdout:
        pytest.skip(f"no namespace of mounts here: {done.stderr}")
    assert (done.returncode, done.stdout) == checked(folder, {})
