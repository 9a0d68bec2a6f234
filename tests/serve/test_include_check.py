"""Include check: files of the kernel's folder and headers of CUDA are included, others are not, however named."""

from __future__ import annotations

from pathlib import Path

import pytest

from warplens.errors import UsageError
from warplens.serve.include_check import check_argument_file, check_includes, check_options


@pytest.fixture
def file(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    (folder / "sub").mkdir(parents=True)
    (folder / "own.h").write_text("#pragma once\n")
    (folder / "sub" / "inner.h").write_text('#include "../own.h"\n')
    (folder / "outward.h").write_text('\n#include "../secret.h"\n')
    (tmp_path / "secret.h").write_text("int secret;\n")
    (folder / "link.h").symlink_to(tmp_path / "secret.h")
    return folder / "kernel.cu"


@pytest.mark.parametrize(
    "source",
    [
        '#include "own.h"\n#include <cstdio>\n#include <cooperative_groups.h>\n',
        '#include "sub/inner.h"\n',
        '// #include "/etc/passwd"\n/* #include "/etc/passwd"\n*/ const char* s = "#include </etc/passwd>";\n',
        'const char* s = R"x(\n#include "/etc/passwd"\n)x";\n',
        "int n = 1'000'000; char c = '\"'; // don't\n#include <cmath>\n",
        "#define LONG \\\n  1\n",
    ],
)
def test_allowed(file: Path, source: str) -> None:
    check_includes(source, file, ())


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('#include "/etc/passwd"\n', 1),
        ('\n\n  #  include  </etc/passwd>\n', 3),
        ('#include "../secret.h"\n', 1),
        ('#include "sub/../../secret.h"\n', 1),
        ('#include "link.h"\n', 1),
        ("#include <link.h>\n", 1),
        ("#define X </etc/passwd>\n#include X\n", 2),
        ("%:include </etc/passwd>\n", 1),
        ("#inc\\\nlude </etc/passwd>\n", 1),
        ("#define A \\\n 1\n#include </etc/passwd>\n", 3),
        ('const char* s = "/*";\n#/**/include </etc/passwd>\n', 2),
        ("int a = 1'0 + sizeof('\"') + sizeof(\"/*\");\n#include </etc/passwd>\n/* */\n", 2),
        ('// R"(\n#include </etc/passwd>\n// )"\n', 2),
        ("??=include </etc/passwd>\n", 1),
        ("#if 0\n#include </etc/passwd>\n#endif\n", 2),
        ("#if __has_include(</etc/passwd>)\n#endif\n", 1),
        ('#embed "/etc/passwd"\n', 1),
        ('const char* s = R"x()\\\nx";\n#include </etc/passwd>\n', 1),
    ],
)
def test_refused(file: Path, source: str, line: int) -> None:
    with pytest.raises(UsageError, match=f"kernel.cu:{line}: .*refused"):
        check_includes(source, file, ())


def test_the_line_of_a_header_is_named(file: Path) -> None:
    with pytest.raises(UsageError, match=r"outward\.h:2: #include of \.\./secret\.h"):
        check_includes('#include "outward.h"\n', file, ())


@pytest.mark.parametrize("option", ["-I/etc", "--include-path=/etc", "-I..", "--pre-include=/etc/passwd", "-pch",
                                    "-fdevice-time-trace=x.json"])  # fmt: skip
def test_options_refused(file: Path, option: str) -> None:
    with pytest.raises(UsageError, match="refused"):
        check_options([option], file)


def test_options_allowed(file: Path) -> None:
    check_options(["-DN=4", "--use_fast_math", "-Isub", "-maxrregcount=32", "--std=c++20"], file)


@pytest.mark.parametrize("text", ["file /etc/passwd u8[10]", "x = file:~/x.npy", "file ../x.npy", "file: sub/../../x"])
def test_files_of_arguments_refused(file: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"kernel\.cu:7: .*refused"):
        check_argument_file(text, file, 7)


def test_files_of_arguments_allowed(file: Path) -> None:
    for text in ("file data.npy", "in = file sub/x.bin f32[n]", "random f32[n]", "n"):
        check_argument_file(text, file, 1)
