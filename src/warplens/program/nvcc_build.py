"""nvcc build: compiles the files of a program with nvcc and a C++ compiler; kept by content in the cache."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from warplens.errors import CompileError, UsageError
from warplens.program.link_libraries import link_options
from warplens.program.nvcc_toolchain import architecture_options, nvcc_command
from warplens.system import disk_cache
from warplens.system.atomic_write import write_whole
from warplens.system.nvidia_wheels import cutlass_headers, header_folders

LONGEST_SECONDS = 900
CUDA_SOURCE = ".cu"
SOURCES = (CUDA_SOURCE, ".cpp", ".cc", ".cxx", ".c")
OBJECTS = (".o", ".a", ".so")
PHASES = {
    ".o": {"-c", "--compile", "-dc", "--device-c", "-dw", "--device-w", "-dlink", "--device-link"},
    ".ptx": {"-ptx", "--ptx"}, ".cubin": {"-cubin", "--cubin"}, ".fatbin": {"-fatbin", "--fatbin"},
    ".a": {"-lib", "--lib"},
}  # fmt: skip
"""Options by which nvcc makes something else than a program, by the suffix of what it makes."""
DEPENDENCIES, WITH_NAMES = {"-MD", "-MMD", "-MP"}, {"-MF", "-MT", "-MQ"}
"""Options by which a compilation writes a make rule to a file, and those of them that a name follows."""
HEADERS = (
    (r"curand\w*\.h", "nvidia-curand"), (r"nvml\.h", "nvidia-nvml-dev"), (r"(?:nvtx3/)?nvToolsExt\.h", "nvidia-nvtx"),
    (r"(?:cuda_profiler_api|cudaProfiler)\.h", "nvidia-cuda-profiler-api"), (r"nvJitLink\.h", "nvidia-nvjitlink"),
    (r"nvFatbin\.h", "nvidia-nvfatbin"),
)  # fmt: skip
"""Headers whose wheels `warplens[build]` does not bring: most programs do without them."""
HINTS = (
    *((rf"error: ({header}): No such file", f"{{0}} is in a wheel of NVIDIA: pip install {package}")
      for header, package in HEADERS),
    (rf"error: (?!(?:{'|'.join(header for header, _ in HEADERS)}):)(\S+): No such file or directory",
     "{0} is in none of the folders that are searched: add its folder with -I"),
    (r"ptxas fatal.*Unresolved extern", "a function is in another file: add -rdc=true, and all files"),
    (r"cannot find -l([\w.+-]+)", "the library lib{0} is in none of the folders that are searched: name its folder "
     "with -L"),
    (r"undefined reference to `main'", "the program has no main(): `warplens explain FILE` analyses kernels alone"),
    (r"cannot find (lib\w+)", "{0} is not installed"),
    (r"unsupported GNU version|unsupported clang version", "-ccbin COMPILER names an older compiler, or add "
     "-allow-unsupported-compiler"),
    (r"undefined reference to `(cublas|cudnn|cufft|cusparse|cusolver|curand)", "{0} is a library of NVIDIA that is not "
     "among the wheels here, and that needs NVIDIA's driver: the program cannot run here with it"),
)  # fmt: skip
"""What nvcc's output means, and what to do."""


@contextmanager
def executable(sources: Sequence[str], arch: str, options: Sequence[str]) -> Iterator[Path]:
    """Context manager: the program made of these files, in the cache.

    UsageError if a file or a compiler is missing, CompileError with nvcc's output.
    """
    data, key = _made(sources, arch, options)
    name = Path(sources[0]).stem
    kept = disk_cache.directory()
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        place = (Path(folder) if kept is None else kept / "nvcc" / f"{key}.d") / name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not place.is_file() or place.read_bytes() != data:
            write_whole(place, data, 0o700)
        yield place


def build(sources: Sequence[str], output: str, arch: str, options: Sequence[str]) -> None:
    """Writes the program made of these files.  UsageError, CompileError as executable()."""
    data, _ = _made(sources, arch, options)
    try:
        write_whole(Path(output), data, 0o755)
    except OSError as error:
        raise UsageError(f"cannot write {output}: {error.strerror}") from None


def made_suffix(options: Sequence[str]) -> str:
    """Suffix of what nvcc makes with these options, "" for a program."""
    return next((suffix for suffix, names in PHASES.items() if names & {*options}), "")


def project_files(sources: Sequence[str], arch: str, options: Sequence[str]) -> dict[str, list[str]]:
    """Of each file that is compiled the files that it is made of, but for those of the system; absolute names.

    UsageError, CompileError as executable().
    """
    command = _command(sources, arch, options)
    toolkit = _toolkit(command)
    headers = {toolkit / "include", toolkit / "targets"}
    found = {}
    for source in sources:
        files = map(os.path.abspath, [source, *_includes(command, [source])])
        own = (file for file in files if not headers & {*Path(file).resolve().parents})
        found[os.path.abspath(source)] = list(dict.fromkeys(own))
    return found


@contextmanager
def changed_program(
    sources: Sequence[str], texts: Mapping[str, bytes], arch: str, options: Sequence[str]
) -> Iterator[Path]:
    """Context manager: the program made of these texts, by absolute file name, in place of what is in the files.

    CompileError with nvcc's output.
    """
    with _copied(sources, texts, arch, options) as (command, files, folder):
        made = folder / Path(sources[0]).stem
        _link(command, made, files)
        yield made


def machine_code(source: str, texts: Mapping[str, bytes], arch: str, options: Sequence[str]) -> bytes:
    """The cubin of one file with these texts in place of what is in the files; kept by content in the cache.

    CompileError with nvcc's output.
    """
    version = _run([*nvcc_command()[:1], "--version"])
    contents = (part for name in sorted(texts) for part in (name, texts[name]))
    key = disk_cache.key("nvcc cubin", version, arch, *options, source, *contents)

    def compiled() -> bytes:
        with _copied([source], texts, arch, options) as (command, files, folder):
            made = folder / "code.cubin"
            _run([*command, "-cubin", "-o", str(made), *files])
            return made.read_bytes()

    return disk_cache.remember("nvcc", key, compiled)


@contextmanager
def _copied(
    sources: Sequence[str], texts: Mapping[str, bytes], arch: str, options: Sequence[str]
) -> Iterator[tuple[list[str], list[str], Path]]:
    """nvcc's command, the names of copies of the sources, and a folder; each copy has its own name below the folder."""
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        for name, text in texts.items():
            place = Path(folder + name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text)
        command = _command(sources, arch, list(_with_copies(options, folder)))
        yield command, [folder + os.path.abspath(source) for source in sources], Path(folder)


def _with_copies(options: Sequence[str], folder: str) -> Iterator[str]:
    """Options in which each folder that is searched has its copy before it."""
    words = iter(options)
    for word in words:
        name = word.removeprefix("-I") if word.startswith("-I") else None
        if word == "-I":
            name = next(words, "")
        if name is None:
            yield word
        else:
            yield from (f"-I{folder}{os.path.abspath(name)}", f"-I{os.path.abspath(name)}")


def _command(sources: Sequence[str], arch: str, options: Sequence[str]) -> list[str]:
    for source in sources:
        if not Path(source).is_file():
            raise UsageError(f"no such file: {source}")
    told = architecture_options(options)
    own = [] if told.names else [f"-arch={arch}"]
    headers = [f"-I{folder}" for folder in cutlass_headers()[0]]
    headers += [f"-Xcompiler=-idirafter,{folder}" for folder in header_folders()]  # of what the toolkit has not
    return [*nvcc_command(), *own, "-lineinfo", *told.options, *headers]


def _made(sources: Sequence[str], arch: str, options: Sequence[str]) -> tuple[bytes, str]:
    """The program, and its key in the cache."""
    return _built(_command(sources, arch, options), sources)


def _built(command: list[str], sources: Sequence[str]) -> tuple[bytes, str]:
    """The program, and its key: it depends on all files that the sources include."""
    version = _run([*command[:1], "--version"])
    asked = disk_cache.key("nvcc includes", *command, version, *map(_content, map(Path, sources)), *sources)
    included = disk_cache.recall("nvcc", asked)
    files = json.loads(included) if included else []
    if not files or not all(Path(file).is_file() for file in files):
        files = _includes(command, sources)
        disk_cache.keep("nvcc", asked, json.dumps(files).encode())
    key = disk_cache.key("nvcc", asked, *map(_content, (*map(Path, files), *_libraries(command))))
    return disk_cache.remember("nvcc", key, lambda: _compiled(command, sources)), key


def _content(file: Path) -> bytes:
    return file.read_bytes()


def _libraries(command: list[str]) -> list[Path]:
    """Files of -l in the folders of -L."""
    named = {"-L": list[str](), "-l": list[str]()}
    words = iter(command)
    for word in words:
        if word[:2] in named:
            named[word[:2]].append(word[2:] or next(words, ""))
    files = (Path(folder, f"lib{name}{end}") for folder in named["-L"] for name in named["-l"] for end in (".a", ".so"))
    return [file for file in files if file.is_file()]


def _includes(command: list[str], sources: Sequence[str]) -> list[str]:
    """The files of a make rule, "main.o : main.cu \\ ...", but for those of the system."""
    asked = [*_without_rules(command), "-MM"]
    rules = b"\n".join(_run([*asked, source]) for source in sources if source.endswith(SOURCES)).decode(
        errors="replace"
    )
    words = shlex.split(rules.replace("\\\n", " "))
    return sorted({word for word in words if not word.endswith(":") and Path(word).is_file()})


def _without_rules(command: list[str]) -> Iterator[str]:
    words = iter(command)
    for word in words:
        if word in WITH_NAMES:
            next(words, "")
        elif word not in DEPENDENCIES:
            yield word


def _compiled(command: list[str], sources: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="warplens-") as folder:
        made = Path(folder) / "program"
        _link(command, made, sources)
        return made.read_bytes()


def _link(command: list[str], made: Path, files: Sequence[str]) -> None:
    with link_options(command, _toolkit(command)) as found:
        _run([*command, *found, "-o", str(made), *files])


def _toolkit(command: list[str]) -> Path:
    """The folder above that of nvcc."""
    return Path(command[0]).resolve().parent.parent


def _run(command: list[str]) -> bytes:
    try:
        done = subprocess.run(command, capture_output=True, check=False, timeout=LONGEST_SECONDS)
    except subprocess.TimeoutExpired:
        raise CompileError(f"nvcc took over {LONGEST_SECONDS} s") from None
    if done.returncode:
        output = (done.stderr + done.stdout).decode(errors="replace").strip()
        raise CompileError(f"nvcc refused the program:\n{output}{_hints(output)}")
    return done.stdout


def _hints(output: str) -> str:
    found = [(re.search(cause, output), hint) for cause, hint in HINTS]
    return "".join(f"\n({hint.format(*match.groups())})" for match, hint in found if match)
