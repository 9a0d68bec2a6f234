"""Stale compilations: a change to any file that the compiler opened, or would open now, compiles anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from warplens.compiler import compile_source, includes, nvrtc, read_cubin

KERNEL = 'extern "C" __global__ void f(int *y) { __shared__ volatile int t[SIZE]; *y = t[1] = 2; }\n'


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WARPLENS_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inc").mkdir()
    (tmp_path / "other").mkdir()
    return tmp_path


def size(source, folder, *options):
    data, _ = compile_source(source + KERNEL, str(folder / "f.cu"), "sm_80", options=options)
    return read_cubin(data).kernels["f"].shared_bytes // 4


@pytest.mark.parametrize(
    ("include", "header", "options"),
    [
        ("#include <own.h>\n", "own.h", ()),
        ("#include <own.h>\n", "inc/own.h", ("-Iinc",)),
        ('#include "own.h"\n', "inc/own.h", ("--include-path", "inc")),
        ('  %: /* why */ inc\\\nlude <own.h> // so\n', "inc/own.h", ("-I inc",)),
        ("#define OWN <own.h>\n#include OWN\n", "own.h", ()),
        ("", "inc/own.h", ("-include", "inc/own.h")),
        ("", "inc/own.h", ("--pre-include=own.h", "-Iinc")),
        ('#include "between.h"\n', "inc/own.h", ("-Iinc",)),
        ('#include <cuda_fp16.h>\n#if __has_include("own.h")\n#include "own.h"\n#endif\n', "own.h", ()),
    ],
)  # fmt: skip
def test_a_changed_header_is_seen(folder, include, header, options):
    (folder / "between.h").write_text("#include <own.h>\n")
    for elements in (8, 16):
        (folder / header).write_text(f"#define SIZE {elements}\n")
        assert size(include, folder, *options) == elements


def test_options_of_the_environment_are_seen(folder, monkeypatch):
    assert size("", folder, "-DSIZE=8") == 8
    monkeypatch.setattr(nvrtc, "_compile", lambda *a: pytest.fail("compiled again"))
    assert size("", folder, "-DSIZE=8") == 8
    monkeypatch.setenv("NVRTC_APPEND_FLAGS", "--time=-")
    with pytest.raises(pytest.fail.Exception, match="compiled again"):
        size("", folder, "-DSIZE=8")


def test_a_new_header_earlier_on_the_path_is_seen(folder):
    (folder / "other/own.h").write_text("#define SIZE 8\n")
    options = ("-Iinc", "-Iother")
    assert size("#include <own.h>\n", folder, *options) == 8
    (folder / "inc/own.h").write_text("#define SIZE 16\n")
    assert size("#include <own.h>\n", folder, *options) == 16


def test_a_header_that_was_missing_is_seen(folder):
    source = '#if __has_include(<own.h>)\n#include "own.h"\n#else\n#define SIZE 8\n#endif\n'
    assert size(source, folder) == 8
    (folder / "own.h").write_text("#define SIZE 16\n")
    assert size(source, folder) == 16


def test_unchanged_headers_are_not_compiled_again(folder, monkeypatch):
    (folder / "inc/own.h").write_text("#include <cuda_fp16.h>\n#define SIZE 8\n")
    first = size("#include <own.h>\n", folder, "-Iinc")
    monkeypatch.setattr(nvrtc, "_compile", lambda *a: pytest.fail("compiled again"))
    assert size("#include <own.h>\n", folder, "-Iinc") == first


def test_a_header_that_changes_while_it_is_compiled_is_not_kept(folder, monkeypatch):
    own = folder / "own.h"
    own.write_text("#define SIZE 8\n")
    really = nvrtc._compile

    def late(*given):
        own.write_text("#define SIZE 16\n")
        return really(*given)

    with monkeypatch.context() as patched:
        patched.setattr(nvrtc, "_compile", late)
        assert size("#include <own.h>\n", folder) == 16
    own.write_text("#define SIZE 8\n")
    assert size("#include <own.h>\n", folder) == 8


def test_headers_of_the_host_that_a_wheel_asks_for(folder):
    """A header of a wheel comes from the wheel; what it includes and no wheel has may be the user's."""
    (folder / "cuda_fp16.h").write_text("")
    (folder / "vector").write_text("")
    found = includes.digests("#include <cuda_fp16.h>\n", folder, (), nvrtc.header_directories())
    assert found is not None
    assert set(found) == {str(folder / "vector")}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('#include "a.h"', [(True, "a.h")]),
        ('const char* s = "/*";\n#include "a.h"\nconst char* t = "*/";', [(True, "a.h")]),
        ("/* x */ #include <a.h>", [(False, "a.h")]),
        ("#if __has_include ( <a.h> )", [(False, "a.h")]),
        ("#include_next <a.h>\r\n", [(False, "a.h")]),
        ("#include A_H", None),
        ("#if __has_include(A_H)", None),
        ("// to #include things by their names", []),
        ("#included", []),
    ],
)
def test_names_in(text, names):
    assert includes.names_in(text) == names


def test_a_file_that_an_option_of_ptxas_names(folder):
    options = [f"--options-file={folder / 'given'}"]
    (folder / "given").write_text("-O1")
    before = includes.option_files(options)
    (folder / "given").write_text("-O3")
    assert before != includes.option_files(options)
    assert len(before) == 1


def test_paths_are_absolute(folder):
    (folder / "inc/own.h").write_text("")
    found = includes.digests("#include <own.h>\n", Path("."), ("-Iinc",), ())
    assert [os.path.isabs(path) for path in found] == [True]
