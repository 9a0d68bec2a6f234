"""The distribution: what is in the wheel, how large it may be, and what importing it costs."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder

import warplens

ROOT = Path(__file__).parents[1]
LARGEST_MEGABYTES = 2.5
LONGEST_IMPORT_SECONDS = 1.0  # of processor; it takes 0.04
HEAVY = {"click", "cuda", "elftools", "jinja2", "llvmlite", "matplotlib", "numpy", "pandas", "rich", "tree_sitter"}
MACHINE_CODE = (b"\x7fELF", b"!<arch>", b"MZ", b"\xcf\xfa\xed\xfe")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist")))))


def test_the_wheel_is_small_and_the_same_for_every_machine(wheel: Path) -> None:
    assert wheel.name == f"warplens-{warplens.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size <= LARGEST_MEGABYTES * 1e6
    with zipfile.ZipFile(wheel) as content:
        assert [name for name in content.namelist() if content.read(name).startswith(MACHINE_CODE)] == []


def test_the_wheel_has_all_files_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        packed = {name for name in content.namelist() if ".dist-info/" not in name}
    listed = subprocess.run(["git", "ls-files", "src/warplens"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert packed == {name.removeprefix("src/") for name in listed.stdout.splitlines()}


def test_the_source_distribution_builds_the_same(tmp_path: Path) -> None:
    made = next(SdistBuilder(str(ROOT)).build(directory=str(tmp_path)))
    with tarfile.open(made) as content:
        names = {name.partition("/")[2] for name in content.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "src/warplens/program/shim/launch.c", "CITATION.cff"} <= names
    assert not any(name.startswith(("tests/", "measurements/", ".ci/")) for name in names)
    assert Path(made).stat().st_size <= LARGEST_MEGABYTES * 1e6


def test_importing_loads_nothing_heavy() -> None:
    program = "import sys, time, warplens; print(time.process_time(), *sys.modules)"
    seconds, *modules = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()  # fmt: skip
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert sum(name.startswith("warplens") for name in modules) <= 5
    assert float(seconds) < LONGEST_IMPORT_SECONDS


def test_the_citation_is_of_this_version() -> None:
    """The fields that cff-version 1.2.0 requires, and those that change."""
    fields = dict(re.findall(r"^([\w-]+): *(.*)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE))
    assert fields.keys() >= {"cff-version", "message", "title", "authors"}
    assert (fields["cff-version"], fields["version"]) == ("1.2.0", warplens.__version__)


def test_all_locks_name_the_same_versions() -> None:
    dev, *others = (
        set(re.findall(r"^(\S+==\S+)", (ROOT / f"requirements{name}.lock").read_text(), re.MULTILINE))
        for name in ("-dev", "-docs", "")
    )
    build = {"editables", "hatchling", "pathspec", "pluggy", "packaging", "trove-classifiers"}
    assert {pin for pin in set().union(*others) - dev if pin.partition("==")[0] not in build} == set()


def test_the_release_is_tested_on_every_python_that_the_package_names() -> None:
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    (listed,) = re.findall(r"python: \[(.*)\]", workflow)
    declared = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    assert re.findall(r"[\d.]+", listed) == declared
