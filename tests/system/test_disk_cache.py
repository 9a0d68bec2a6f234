"""Results kept on disk: what their keys depend on; damaged files, and folders that others can write to."""

from __future__ import annotations

import importlib.metadata
import os
import re
import subprocess
import sys

import pytest

from warplens.system import disk_cache


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A small package in place of this one."""
    folder = tmp_path / "package"
    (folder / "sass").mkdir(parents=True)
    for name in ("cache.py", "program.py", "sass/operand_parser.py", "gpu.toml"):
        (folder / name).write_text("1\n")
    monkeypatch.setattr(disk_cache, "__file__", str(folder / "cache.py"))
    monkeypatch.setattr(disk_cache, "fingerprint", disk_cache.fingerprint.__wrapped__)
    return folder


@pytest.mark.parametrize("name", ["program.py", "sass/operand_parser.py", "gpu.toml", "sass/new.py"])
def test_every_source_of_the_package_changes_every_key(package, name):
    before = disk_cache.key("sass", b"code")
    assert disk_cache.key("sass", b"code") == before
    (package / name).write_text("2\n")
    assert disk_cache.key("sass", b"code") != before


@pytest.mark.parametrize("name", disk_cache.PACKAGES)
def test_every_tool_changes_every_key(package, monkeypatch, name):
    before = disk_cache.key("sass", b"code")
    known = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda n: "0" if n == name else known(n))
    assert disk_cache.key("sass", b"code") != before


def test_parts_cut_differently_are_others():
    assert disk_cache.key("a", "bc") != disk_cache.key("ab", "c")


# Damaged files

NAME = "a" * 64
CONTENT = bytes(range(256)) * 4
SCRIPT = """
import sys, numpy as np, warplens as wl
SOURCE = 'extern "C" __global__ void f(float* y) { y[threadIdx.x] += blockIdx.x * 0.5f; }'
PTX = ".version 8.0\\n.target sm_90\\n.address_size 64\\n.visible .entry f(.param .u64 p) { ret; }"
for module in (wl.compile(source=SOURCE, arch="sm_90"), wl.compile(source=PTX, arch="sm_90")):
    run = module["f"].launch((8,), (64,), np.zeros(64, np.float32))
    print(run.predict("h200").time_us, sorted((name, m.value) for name, m in run.metrics.items()))
"""


def flipped(data, at, bit=0):
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


DAMAGE = {
    "empty": lambda data: b"",
    "cut in its head": lambda data: data[:20],
    "cut": lambda data: data[:-1],
    "longer": lambda data: data + b"\0",
    "other bytes": lambda data: b"\x55" * len(data),
    "a bit of its mark": lambda data: flipped(data, 3),
    "a bit of its length": lambda data: flipped(data, len(disk_cache.MAGIC)),
    "a bit of its digest": lambda data: flipped(data, len(disk_cache.MAGIC) + 8, 7),
    "first bit": lambda data: flipped(data, disk_cache.HEAD_BYTES),
    "middle bit": lambda data: flipped(data, (disk_cache.HEAD_BYTES + len(data)) // 2, 4),
    "last bit": lambda data: flipped(data, len(data) - 1, 7),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(disk_cache, "_damaged", [])
    disk_cache._temporary.cache_clear()
    yield tmp_path / "cache"
    disk_cache._temporary.cache_clear()


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_made_anew_and_said_once(folder, capfd, damage):
    for kind in ("object", "sass"):
        disk_cache.keep(kind, NAME, CONTENT)
        file = folder / kind / NAME
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
        assert disk_cache.recall(kind, NAME) is None
        assert disk_cache.remember(kind, NAME, lambda: CONTENT) == CONTENT
        assert disk_cache.recall(kind, NAME) == CONTENT
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith(f"warning: {folder}/object/{NAME} in the cache is damaged: it is made anew")


def test_a_file_under_another_name_is_not_taken(folder):
    disk_cache.keep("object", NAME, CONTENT)
    (folder / "object" / NAME).rename(folder / "object" / NAME.replace("a", "b"))
    assert disk_cache.recall("object", NAME.replace("a", "b")) is None


def run_script(folder):
    environment = os.environ | {"WARPLENS_CACHE": str(folder)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr


@pytest.mark.long  # 20 s: compiles everything three times
def test_every_kind_of_file_may_be_damaged(folder):
    first, said = run_script(folder)
    assert said == ""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert {path.parent.name for path in files} == {"cubin", "handler", "object", "ptx", "sass", "slice"}
    for number, path in enumerate(files):
        damage = list(DAMAGE.values())[number % len(DAMAGE)]
        path.write_bytes(damage(path.read_bytes()))
    again, said = run_script(folder)
    assert again == first
    assert re.fullmatch(r"warning: \S+ in the cache is damaged: .*\n", said)
    assert run_script(folder) == (first, "")


# Folders that others can write to


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
@pytest.mark.parametrize("which", ["", "object"])
def test_code_from_a_folder_that_others_can_write_to_is_not_run(folder, capfd, which, mode):
    disk_cache.keep("object", NAME, CONTENT)
    (folder / which).chmod(mode)
    assert disk_cache.recall("object", NAME) is None
    disk_cache.keep("object", NAME, b"new")
    assert disk_cache.recall("object", NAME) == b"new"
    (said,) = capfd.readouterr().err.splitlines()
    assert said.startswith("warning: other users can write to the cache folder")
    (folder / which).chmod(0o700)
    assert disk_cache.recall("object", NAME) == CONTENT


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_a_file_that_others_can_write_to_is_not_taken(folder):
    disk_cache.keep("object", NAME, CONTENT)
    (folder / "object" / NAME).chmod(0o666)
    assert disk_cache.recall("object", NAME) is None


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no owners of this kind")
def test_a_folder_of_another_user_is_not_read(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    for owner, private in ((1000, True), (0, True), (1001, False)):
        assert disk_cache._private(os.stat_result([0o040755, 0, 0, 2, owner, 0, 0, 0, 0, 0])) == private


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_what_is_made_is_for_this_user_alone(folder):
    before = os.umask(0o002)
    try:
        disk_cache.keep("object", NAME, CONTENT)
    finally:
        os.umask(before)
    modes = [path.stat().st_mode & 0o777 for path in (folder, folder / "object", folder / "object" / NAME)]
    assert modes == [0o700, 0o700, 0o600]
