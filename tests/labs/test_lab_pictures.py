"""Pictures of a lab: from its runs, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import warplens as wl
from warplens.labs.lab import Lab
from warplens.labs.lab_pictures import Gallery, stale_pictures, write_pictures
from warplens.labs.run_lab import Size
from warplens.labs.stored_results import run_and_record, write

SMALL = Size.parse("small")
CU = """extern "C" __global__ void copy(const float* in, float* out, int stride) {
  __shared__ float s[64];
  s[2 * threadIdx.x] = in[stride * threadIdx.x];
  out[threadIdx.x] = s[2 * threadIdx.x];
}"""
TOML = """
title = "Copies"
[names]
stride = 3
[launch]
name = "copy"
grid = 1
block = 32
args = ["random f32[32 * stride]", "empty f32[32]", "stride"]
[1_copy]
teaches = "..."
[[pictures]]
file = "sectors"
draw = "lanes_to_sectors"
rung = "1_copy"
title = "Every third"
[[pictures]]
file = "banks"
draw = "lanes_to_banks"
rung = "1_copy"
access = 0
[[pictures]]
file = "path"
draw = "roofline_path"
"""


def lab(folder: Path, toml: str = TOML) -> Lab:
    (folder / "1_copy.cu").write_text(CU)
    (folder / "truth.py").write_text("def truth(read, out, stride): return {'out': read[::stride]}")
    (folder / "lab.toml").write_text(toml)
    return Lab.of(folder)


def test_pictures_are_drawn_from_the_addresses_of_the_run(tmp_path: Path) -> None:
    found = lab(tmp_path)
    gallery = Gallery(found, "small")
    for done, _ in run_and_record(found, SMALL, predict=lambda _: False):
        assert not done.wrong
        gallery.see(done)
    drawn = gallery.drawn()
    assert set(drawn) == {"sectors", "banks"}  # the roofline is of the full size
    assert "32 lanes of 4 bytes: 12 sectors in 3 lines" in drawn["sectors"]
    assert "2 wavefronts where 1 would do" in drawn["banks"]
    assert [line.split()[0] for line in stale_pictures(found, drawn)] == ["pictures/sectors.svg", "pictures/banks.svg"]
    write_pictures(found, drawn)
    assert stale_pictures(found, drawn) == []


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"lanes_to_banks"', '"banks"', "picture banks: draw is 'banks'; possible are lanes_to_sectors"),
        ('rung = "1_copy"\ntitle', 'rung = "2_copy"\ntitle', "picture sectors: there is no rung 2_copy"),
        ("access = 0", "acces = 0", "picture banks: there is no key 'acces'"),
        ('rung = "1_copy"\naccess', "access", "picture banks: 'rung' and 'file' have to be there"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(wl.UsageError, match=told):
        Gallery(lab(tmp_path, TOML.replace(old, new)), "small")


def test_an_access_that_is_not_there_is_told(tmp_path: Path) -> None:
    found = lab(tmp_path, TOML.replace("access = 0", "access = 5"))
    gallery = Gallery(found, "small")
    (done, _) = next(iter(run_and_record(found, SMALL, predict=lambda _: False)))
    with pytest.raises(wl.UsageError, match="picture banks: accesses to shared memory of warp 0 of block 0: 1, from 0"):
        gallery.see(done)


def test_pictures_of_times_are_drawn_from_the_full_size_and_the_kept_results(tmp_path: Path) -> None:
    more = '[[pictures]]\nfile = "times"\ndraw = "time_against_size"\nsize = "n"\n[small]\nn = 1024\n'
    toml = TOML.replace("stride = 3", "stride = 1\nn = 65536").replace("grid = 1", 'grid = "n / 32"')
    toml = toml.replace("f32[32 * stride]", "f32[n]").replace("f32[32]", "f32[n]") + more
    found = lab(tmp_path, toml)
    (tmp_path / "1_copy.cu").write_text(
        'extern "C" __global__ void copy(const float* in, float* out, int stride) {\n'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  out[i] = 2 * in[i] + 1;\n}"
    )
    (tmp_path / "truth.py").write_text("def truth(read, out, stride): return {'out': 2 * read + 1}")
    gallery, rows = Gallery(found, "full"), []
    for size in (SMALL, Size.parse("full")):
        for done, fresh in run_and_record(found, size):
            assert not done.wrong
            rows += fresh
            gallery.see(done)
    write(found, rows, [SMALL, Size.parse("full")])
    drawn = gallery.drawn()
    assert set(drawn) == {"path", "times"}
    assert "FLOP per byte of DRAM" in drawn["path"]
    assert "µs at 65,536" in drawn["times"]
    assert drawn["times"].count("<circle") == 0  # nothing was measured


def test_rungs_of_a_sweep_are_one_line(tmp_path: Path) -> None:
    toml = TOML.split("[[pictures]]")[0].replace("[1_copy]", "[1_copy]\nsweep = { stride = [1, 2] }")
    found = lab(tmp_path, toml + '[[pictures]]\nfile = "strides"\ndraw = "time_against_size"\nsize = "stride"\n')
    rows = [f"full,1_copy_0{n},predicted_us,{n}.5,modelled h200" for n in (1, 2)]
    write(found, rows, [Size.parse("full")])
    picture = Gallery(found, "full").drawn()["strides"]
    assert "1.50 µs at 1 and 2.50 µs at 2" in picture
    assert picture.count('"curve"') == 1
