"""Link libraries: programs are linked with the driver's names where there is no driver."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from warplens.program.link_libraries import link_options
from warplens.program.shim_library import compiler


def needed(program: Path) -> list[str]:
    with program.open("rb") as file:
        return [tag.needed for tag in ELFFile(file).get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]


@pytest.mark.parametrize(
    ("name", "function", "file"),
    [("cuda", "cuInit", "libcuda.so.1"), ("nvidia-ml", "nvmlDeviceGetSerial", "libnvidia-ml.so.1")],
)
def test_a_program_is_linked_with_the_driver_under_its_own_name(
    tmp_path: Path, name: str, function: str, file: str
) -> None:
    source, program = tmp_path / "main.c", tmp_path / "main"
    source.write_text(f"int {function}(int); int main() {{ return {function}(0); }}\n")
    with link_options([f"-l{name}"], tmp_path) as options:
        subprocess.run([*compiler(), "-o", program, source, *options, f"-l{name}"], check=True)
    assert needed(program)[0] == file


def test_functions_of_the_runtime_are_not_taken_from_the_driver(tmp_path: Path) -> None:
    source = tmp_path / "main.c"
    source.write_text("int cudaMalloc(); int main() { return cudaMalloc(); }\n")
    with link_options(["-lcuda"], tmp_path) as options:
        command = [*compiler(), "-o", tmp_path / "main", source, *options, "-lcuda"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "undefined reference to `cudaMalloc'" in done.stderr


def test_nvrtc_is_that_of_the_wheel(tmp_path: Path) -> None:
    with link_options(["-lnvrtc"], tmp_path) as (folder, linker, path):
        found = Path(folder.removeprefix("-L"), "libnvrtc.so").resolve()
        assert found.name == "libnvrtc.so.13"
        assert (linker, path) == ("-Xlinker", f"-rpath={found.parent}")


def test_what_a_toolkit_has_and_what_is_not_named_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "lib64" / "stubs").mkdir(parents=True)
    (tmp_path / "lib64" / "stubs" / "libcuda.so").write_bytes(b"")
    with link_options(["-lcuda", "-lm"], tmp_path) as options:
        assert options == []
