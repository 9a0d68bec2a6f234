"""nvcc builds: what is missing is said, what has not changed is not built again."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from warplens.cli.main import main
from warplens.errors import CompileError, UsageError
from warplens.program import nvcc_build, nvcc_toolchain
from warplens.program.nvcc_build import changed_program, executable, machine_code, project_files

STANDS_IN = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
case "$*" in
*refuse*) echo "refused.cu(1): error: no" >&2; exit 1 ;;
*--version*) echo 13.0 ;;
*--list-gpu-arch*) echo compute_75; echo compute_80; echo compute_90 ;;
*-MM*) echo "main.o : main.cu part.h" ;;
*) while [ $# -gt 0 ]; do [ "$1" = -o ] && cat main.cu part.h > "$2"; shift; done ;;
esac
"""


@pytest.fixture
def compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Scripts in the place of nvcc and g++: the "program" is its sources."""
    for name in ("nvcc", "g++"):
        (tmp_path / name).write_text(STANDS_IN)
        (tmp_path / name).chmod(0o700)
    (tmp_path / "main.cu").write_text("int main")
    (tmp_path / "part.h").write_text("one")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(nvcc_build, "header_folders", list)
    return tmp_path


def test_a_program_is_built_again_when_an_included_file_has_changed(compilers: Path) -> None:
    def built() -> str:
        with executable(["main.cu"], "sm_90", ["-O1"]) as made:
            assert made.name == "main"
            assert made.stat().st_mode & stat.S_IXUSR
            return made.read_text()

    def builds() -> int:
        return sum(" -o " in call for call in (compilers / "calls").read_text().splitlines())

    assert [built(), built()] == ["int mainone"] * 2
    assert builds() == 1
    (compilers / "part.h").write_text("two")
    assert built() == "int maintwo"
    assert builds() == 2
    assert "-arch=sm_90 -lineinfo -O1 -o" in (compilers / "calls").read_text()


def test_what_is_missing_or_refused_is_said(compilers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"no such file: gone\.cu"), executable(["gone.cu"], "sm_90", []):
        pass
    with (
        pytest.raises(CompileError, match=r"refused\.cu\(1\): error: no"),
        executable(["main.cu"], "sm_90", ["refuse"]),
    ):
        pass
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match=r"install g\+\+"), executable(["main.cu"], "sm_90", []):
        pass


def calls(folder: Path) -> list[str]:
    return (folder / "calls").read_text().splitlines()


def test_build_passes_on_what_is_not_its_own(compilers: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (compilers / "util.cpp").write_text("int util")
    (compilers / "more.a").write_text("an archive")
    words = ["-Iinclude", "-I", "more", "-DN=4", "-rdc=true", "-O2", "-std=c++17", "-lm", "-Xcompiler", "-Wall,-o3"]
    command = ["build", "main.cu", *words[:4], "-o", "app", "more.a", *words[4:], "util.cpp", "--gpu", "a100"]
    assert main(command) == 0
    said = capfd.readouterr()
    assert said.err == "app: for sm_80; run it with `warplens run -- ./app`\n"
    (built,) = (call for call in calls(compilers) if " -o " in call)
    assert built.startswith(f"-arch=sm_80 -lineinfo {' '.join(words)} -o ")
    assert built.endswith("program main.cu more.a util.cpp")
    assert sum("-MM" in call for call in calls(compilers)) == 2
    assert (compilers / "app").stat().st_mode & stat.S_IXUSR
    (compilers / "more.a").write_text("another archive")
    assert main(command) == 0
    assert sum(" -o " in call for call in calls(compilers)) == 2


def test_a_library_that_has_changed_is_linked_again(compilers: Path) -> None:
    for content in ("one", "two", "two"):
        (compilers / "libutil.a").write_text(content)
        assert main(["build", "main.cu", "-L", ".", "-lutil", "--output-file", "app", "--arch", "sm_90"]) == 0
    assert sum(" -o " in call for call in calls(compilers)) == 2


@pytest.mark.parametrize(
    ("words", "arch"),
    [
        (("--arch", "sm_120"), "-arch=sm_120 -lineinfo"),
        (("--arch=sm_75",), "-arch=sm_75 -lineinfo"),
        (("-arch=sm_80",), "-lineinfo -arch=sm_80"),
        (("-gencode", "arch=compute_90,code=sm_90"), "-lineinfo -gencode arch=compute_90,code=sm_90"),
        (("-arch=sm_60",), "-arch=sm_90 -lineinfo"),
        (("-arch", "sm_60", "-O1"), "-arch=sm_90 -lineinfo -O1"),
        (("--gpu-architecture=compute_60", "-code=sm_60,compute_60"), "-arch=sm_90 -lineinfo"),
        (("-arch=native",), "-arch=sm_90 -lineinfo"),
        (
            ("-gencode", "arch=compute_60,code=sm_60", "-gencode=arch=compute_90,code=sm_90a"),
            "-lineinfo -gencode=arch=compute_90,code=sm_90a",
        ),
        ((), "-arch=sm_90 -lineinfo"),
    ],
)
def test_the_architecture_is_named_once(
    compilers: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], arch: str
) -> None:
    monkeypatch.setenv("WARPLENS_GPU", "h200")
    assert main(["build", "main.cu", *words, "--output", "app"]) == 0
    assert calls(compilers)[-1].startswith(f"{arch} -o")


@pytest.mark.parametrize(
    ("arch", "says"),
    [("sm_80", "main.o: for sm_80\n"), ("sm_60", "main.o: for sm_90, as this nvcc cannot compile for sm_60\n")],
)
def test_what_is_compiled_for_is_said(compilers: Path, capfd: pytest.CaptureFixture[str], arch: str, says: str) -> None:
    assert main(["build", "main.cu", "-c", f"-arch={arch}", "--gpu", "h200"]) == 0
    assert capfd.readouterr().err == says


@pytest.mark.parametrize(
    ("words", "made"),
    [
        (("main.cu", "-c"), ["main.o"]),
        (("main.cu", "util.cpp", "-dc"), ["main.o", "util.o"]),
        (("main.cu", "-c", "-o", "other.o"), ["other.o"]),
        (("main.cu", "-ptx"), ["main.ptx"]),
        (("main.o",), ["a.out"]),
        (("util.cpp", "-x", "cu", "-o", "app"), ["app"]),
    ],
)
def test_build_stands_in_for_nvcc_in_a_makefile(
    compilers: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], made: list[str]
) -> None:
    for name in ("util.cpp", "main.o"):
        (compilers / name).write_text("int util")
    before = set(compilers.iterdir()) - {compilers / "main.o"}
    assert main(["build", *words, "--arch", "sm_90"]) == 0
    assert sorted(path.name for path in set(compilers.iterdir()) - before - {compilers / "calls"}) == sorted(
        {*made, "main.o"}
    )
    program = "" if made[0] not in {"a.out", "app"} else f"; run it with `warplens run -- ./{made[0]}`"
    assert capfd.readouterr().err == "".join(f"{name}: for sm_90{program}\n" for name in made)


def test_headers_of_wheels_come_after_those_of_the_toolkit(compilers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvcc_build, "header_folders", lambda: [Path("/wheels/include")])
    assert main(["build", "main.cu", "-Iown", "--arch", "sm_90"]) == 0
    assert calls(compilers)[-1].startswith("-arch=sm_90 -lineinfo -Iown -Xcompiler=-idirafter,/wheels/include -o ")


def test_a_make_rule_is_not_written_where_included_files_are_asked_for(compilers: Path) -> None:
    assert main(["build", "main.cu", "-MD", "-MT", "x.o", "-MF", "x.d", "-c", "--arch", "sm_90"]) == 0
    (asked,) = (call for call in calls(compilers) if "-MM" in call)
    assert asked == "-arch=sm_90 -lineinfo -c -MM main.cu"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("-lm",), "build takes files to compile or to link: .cu, .cpp"),
        (("main.cu", "--arch", "sm_1"), "unknown architecture 'sm_1'"),
        (("main.cu", "--arch", "sm_90", "--gpu", "t4"), "--gpu and --arch both name an architecture"),
        (("main.cu", "-o", "/nowhere/at/all"), "/nowhere/at"),
        (("gone.cu",), "no such file: gone.cu"),
        ((), "Missing argument"),
    ],
)
def test_wrong_words_of_build(
    compilers: Path, capfd: pytest.CaptureFixture[str], words: tuple[str, ...], says: str
) -> None:
    assert main(["build", *words]) == 2
    assert says in capfd.readouterr().err


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("main.cu:1:10: fatal error: helper.h: No such file or directory", "helper.h is in none of the folders"),
        ("main.cu:1:10: fatal error: curand_kernel.h: No such file or directory", "pip install nvidia-curand"),
        ("ptxas fatal   : Unresolved extern function 'f'", "add -rdc=true, and all files"),
        ("/usr/bin/ld: cannot find -lmine: No such file", "the library libmine is in none of the folders"),
        ("cannot find -lother: No such file or directory", "the library libother is in none of the folders"),
        ("in function `_start': undefined reference to `main'", "`warplens explain FILE` analyses kernels alone"),
        ("undefined reference to `cublasCreate_v2'", "cublas is a library of NVIDIA that is not among the wheels"),
    ],
)
def test_what_nvcc_says_is_explained(compilers: Path, output: str, says: str) -> None:
    (compilers / "nvcc").write_text(f"#!/bin/sh\n[ $1 = --version ] && exit\ncat <<'END'\n{output}\nEND\nexit 1\n")
    with pytest.raises(CompileError) as refused, executable(["main.cu"], "sm_90", []):
        pass
    assert output in str(refused.value)
    assert says in str(refused.value).splitlines()[-1]


def test_parts_of_the_wheels_that_are_missing_are_named(
    compilers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the files of all parts in a folder, and without one or another."""
    (compilers / "nvcc").unlink()
    (compilers / "g++").rename(compilers / "clang++")
    monkeypatch.setenv("PATH", str(compilers))
    root = tmp_path / "cu13"
    for part in ("bin/nvcc", *(part for part, _ in nvcc_toolchain.PARTS)):
        (root / part).parent.mkdir(parents=True, exist_ok=True)
        (root / part).touch()
    monkeypatch.setattr(nvcc_toolchain, "program_of", lambda package, name: (root / "bin/nvcc", "13.0.88"))
    monkeypatch.setattr(nvcc_toolchain, "version", lambda package: "13.0.42")
    assert nvcc_toolchain.nvcc_command() == [str(root / "bin/nvcc"), f"-L{root}/lib", "-ccbin", "clang++"]
    (root / "lib/libcudart_static.a").unlink()
    (root / "bin/crt").unlink()
    missing = r'pip install "nvidia-cuda-crt==13.0.\*" "nvidia-cuda-runtime==13.0.\*"$'
    with pytest.raises(UsageError, match=missing):
        nvcc_toolchain.nvcc_command()

    def absent(package: str) -> str:
        raise importlib.metadata.PackageNotFoundError(package)

    for found in (absent, lambda package: "13.5.37"):
        monkeypatch.setattr(nvcc_toolchain, "version", found)
        with pytest.raises(UsageError, match=r'"nvidia-nvvm==13.0.\*"$'):
            nvcc_toolchain.nvcc_command()
    monkeypatch.setattr(nvcc_toolchain, "program_of", lambda package, name: None)
    with pytest.raises(UsageError, match=r'pip install "warplens\[build\]"'):
        nvcc_toolchain.nvcc_command()


@pytest.mark.parametrize(
    ("version", "others", "option"),
    [
        ("15.2.0", ["g++-14"], []),
        ("16", ["g++-16", "g++-14", "g++-13"], ["-ccbin", "g++-14"]),
        ("16", ["g++-16"], []),
        ("", ["g++-14"], []),
    ],
)
def test_an_older_gcc_is_taken_where_nvcc_refuses_the_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, others: list[str], option: list[str]
) -> None:
    programs, header = tmp_path / "bin", tmp_path / "include/crt/host_config.h"
    programs.mkdir()
    header.parent.mkdir(parents=True)
    header.write_text("#if __GNUC__ > 15\n#error -- unsupported GNU version!\n#endif\n")
    for name in ("nvcc", "g++", *others):
        (programs / name).write_text(f"#!/bin/sh\necho {version}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    nvcc_toolchain._gcc_version.cache_clear()
    assert nvcc_toolchain.nvcc_command() == [str(programs / "nvcc"), *option]
    nvcc_toolchain._gcc_version.cache_clear()


@pytest.mark.long
@pytest.mark.skipif(not (shutil.which("nvcc") and shutil.which("g++")), reason="needs nvcc and g++")
def test_files_with_separate_device_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "three.h").write_text("#define THREE 3\n")
    (tmp_path / "seven.cpp").write_text("int seven() { return SEVEN; }\n")
    (tmp_path / "twice.cu").write_text("__device__ int twice(int x) { return 2 * x; }\n")
    (tmp_path / "main.cu").write_text("""#include "three.h"
    int seven();
    extern __device__ int twice(int x);
    __global__ void k(int *x, int n) { *x = twice(n) + THREE; }
    int main(int count, char **) { if (count > 9) k<<<1, 1>>>(nullptr, 1); return seven(); }""")
    words = ["main.cu", "twice.cu", "seven.cpp", "-I", "folder", "-DSEVEN=7", "-rdc=true", "-o", "app"]
    assert main(["build", *words, "--gpu", "h200"]) == 0
    assert subprocess.run([os.path.abspath("app")], check=False).returncode == 7


def test_changed_texts_are_compiled_in_copies_that_find_each_other(compilers: Path) -> None:
    """Folders of -I have their copies before them; the files themselves stay as they are."""
    (compilers / "inc").mkdir()
    main, part = str(compilers / "main.cu"), str(compilers / "part.h")
    assert project_files(["main.cu"], "sm_90", ()) == {main: [main, part]}
    with changed_program(["main.cu"], {main: b"changed", part: b"one"}, "sm_90", ["-Iinc", "-O1"]) as made:
        (call,) = (line for line in (compilers / "calls").read_text().splitlines() if " -o " in line)
        copy = Path(call.split()[-1])
        assert copy.read_bytes() == b"changed"
        assert (copy.parent / "part.h").read_bytes() == b"one"
        assert f"-I{copy.parent}/inc -I{compilers}/inc -O1" in call
        assert made.name == "main"
    assert not copy.exists()
    assert (compilers / "main.cu").read_text() == "int main"


def test_machine_code_of_equal_texts_is_compiled_once(compilers: Path) -> None:
    main = str(compilers / "main.cu")
    for text in (b"one", b"two", b"one"):
        machine_code(main, {main: text}, "sm_90", ())
    assert (compilers / "calls").read_text().count("-cubin") == 2
