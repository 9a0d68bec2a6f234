"""Cubins within fatbins, and within whatever holds those."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

import warplens as wl
from warplens.cli.main import main
from warplens.compiler import extract_cubins
from warplens.compiler.fatbin import fitting_entry
from warplens.compiler.nvrtc import compile_source
from warplens.errors import CubinError, UsageError

ZSTANDARD, PTX, CUBIN = 0x8000, 1, 2
COPY = 'extern "C" __global__ void copy(float* to, const float* from) { to[threadIdx.x] = from[threadIdx.x]; }'
SCALE = 'extern "C" __global__ void scale(float* to, float by) { to[threadIdx.x] *= by; }'


def compiled(source: str, arch: str) -> bytes:
    return compile_source(source, "source.cu", arch, (), ())[0]


def entry(kind: int, arch: int, code: bytes, flags: int = 0) -> bytes:
    """As nvcc 13.0 writes it; `--compress-mode=size` sets ZSTANDARD."""
    return struct.pack("<HHIQIIIIQQQQ", kind, 0x101, 64, len(code), 0, 0, 0x10008, arch, 0, flags | 0x11, 0, 0) + code


def fatbin(*entries: bytes) -> bytes:
    inside = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(inside)) + inside


@pytest.fixture(scope="module")
def program() -> bytes:
    """Two sources for two architectures each, and what else a program holds."""
    text = entry(PTX, 90, b"(compressed)", ZSTANDARD)
    parts = [
        fatbin(*(entry(CUBIN, n, compiled(source, f"sm_{n}")) for n in (80, 90)), text) for source in (COPY, SCALE)
    ]
    return b"\x7fELF" + bytes(14) + b"\x3e" + bytes(45) + parts[0] + b"host code" * 9 + parts[1] + bytes(100)


def test_each_architecture_has_the_cubins_of_all_sources(program: bytes) -> None:
    found = extract_cubins(program)
    assert {arch: len(each) for arch, each in found.items()} == {"sm_80": 2, "sm_90": 2}
    assert found["sm_90"] == [compiled(COPY, "sm_90"), compiled(SCALE, "sm_90")]
    assert extract_cubins(b"nothing of that kind") == {}


def test_a_kernel_and_an_architecture_are_chosen(program: bytes) -> None:
    assert wl.load(program, kernel="scale").arch == "sm_90"
    assert list(wl.load(program, "sm_80", "copy")) == ["copy"]
    with pytest.raises(UsageError, match=r"load\(..., kernel=...\), of those in the file's modules: copy \| scale"):
        wl.load(program)
    with pytest.raises(UsageError, match="it holds code for sm_80, sm_90, none for sm_75"):
        wl.load(program, "sm_75")


def test_explain_takes_a_program(program: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program"
    file.write_bytes(program)
    started = ["--grid", "4", "--block", "32", "--arg", "random f32[128]", "--arg", "2.0f"]
    assert main(["explain", str(file), "--kernel", "scale", *started]) == 0
    assert "scale" in capsys.readouterr().out
    assert main(["explain", str(file)]) == 2
    assert "has 2 kernels; choose one with --kernel: copy, scale" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (fatbin(entry(CUBIN, 90, b"\x28\xb5\x2f\xfd", ZSTANDARD)), "compressed code of the fatbin is damaged"),
        (fatbin(entry(PTX, 90, b".version 9.0")), "PTX alone.*cuobjdump -xptx"),
        (fatbin(entry(CUBIN, 90, bytes(80)))[:-8], "cut short"),
        (fatbin(struct.pack("<HHIQ", CUBIN, 0x101, 64, 1 << 40) + bytes(48)), "damaged"),
        (fatbin(entry(CUBIN, 90, bytes(80))), "a cubin is needed"),
    ],
)  # fmt: skip
def test_others_say_what_is_wrong(data: bytes, told: str) -> None:
    with pytest.raises(CubinError, match=told):
        wl.load(data)


def test_a_driver_takes_the_newest_code_of_the_generation_else_ptx() -> None:
    held = fatbin(*(entry(CUBIN, n, b"%d" % n) for n in (80, 86)), *(entry(PTX, n, b"p%d" % n) for n in (75, 90)))
    found = {arch: fitting_entry(held, arch) for arch in ("sm_75", "sm_80", "sm_89", "sm_90", "sm_120")}
    assert {arch: each and each.code for arch, each in found.items()} == {
        "sm_75": b"p75", "sm_80": b"80", "sm_89": b"86", "sm_90": b"p90", "sm_120": b"p90"
    }  # fmt: skip
    assert fitting_entry(fatbin(entry(CUBIN, 90, b"")), "sm_80") is None


def test_compressed_code_is_decompressed() -> None:
    packed = b"\x50abcde"
    head = struct.pack("<HHIQIIIIQQQQ", CUBIN, 0x101, 64, 8, len(packed), 0, 0x10008, 90, 0, 0x2011, 0, 5)
    found = fitting_entry(fatbin(head + packed + bytes(2)), "sm_90")
    assert found is not None
    assert found.code == b"abcde"
