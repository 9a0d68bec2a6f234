"""Writes measurements/h200/opcodes.csv: which opcodes the compiler emits, where, and what proves each of them.

    python tests/isa/coverage.py --write            all of it, in some minutes for each architecture
    python tests/isa/coverage.py --write odd_ more  only files and groups of expressions that begin so: new proofs are
                                                    added to the table, nothing is taken away

docs/opcode_table.py makes the page of it.  An opcode is proven on an architecture by an expression that holds it there
and is computed as the host's compiler has it, or an H200; and by a kernel whose results a test compares.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path

import warplens as wl
from warplens.core.program import Instruction
from warplens.isa.dsl.decode import bind

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / folder) for folder in ("isa", "kernels", "validation", "")]

import ptx_forms  # noqa: E402
from host_probes import on_host  # noqa: E402
from probe_kernels import Probe, digest, module, probes, results  # noqa: E402
from test_other_architectures import OTHERWISE, STRANGERS  # noqa: E402
from test_results import TRIED  # noqa: E402

from helpers.kernel_launches import ARCHITECTURES, KERNELS, VALIDATION  # noqa: E402
from helpers.tensor_launches import BYTE_FORMS, FORMS  # noqa: E402

MEASURED = Path(__file__).parents[2] / "measurements" / "h200"
FILE = MEASURED / "opcodes.csv"
COLUMNS = ["opcode", "architectures", "proven", "equal", "differ", "host", "kernels", "operands", "offset", "encoding"]
ALL = "75 80 86 89 90 100 120"
SOME = {"barriers": ALL, "patterns": ALL, "practice": ALL, "copies": "80 90 120"}
SOME |= {path.stem: "100" for path in VALIDATION.glob("field/*.cu")}
"""Where the tests run the kernels that they name, of files that not all architectures are tried with."""
WHOLE = {path.stem: "75 80 86 89 90 120" for path in VALIDATION.glob("field/*.cu")}
WHOLE |= {path.stem: ALL for name in ("ladders", "odd") for path in VALIDATION.glob(f"{name}/*.cu")}
WHOLE |= {path.stem: "90" for name in ("guests", "visitors", "strangers") for path in VALIDATION.glob(f"{name}/*.cu")}
WHOLE |= {"matrix_patterns": ALL, "everyday": "90", "spellings": ALL, "clusters": "90 100 120"}
"""Files of which all kernels were compared: with an H200 (measurements/README.md), elsewhere with sm_90 or numpy."""


SINGLE = {*TRIED, *((name, f"sm_{arch}") for names in STRANGERS.values() for name in names for arch in ALL.split())}
"""Kernels that are compared on an architecture where others of their files are not."""


@dataclass
class Evidence:
    """What is known of an opcode: architectures that have it, and those where something proves it."""

    seen: set[int] = field(default_factory=set)
    proven: set[int] = field(default_factory=set)
    equal: set[str] = field(default_factory=set)  # expressions that an H200 computes as the executor does
    differ: set[str] = field(default_factory=set)  # or otherwise
    host: set[str] = field(default_factory=set)  # as the host's compiler has them
    kernels: set[str] = field(default_factory=set)
    example: Instruction | None = None


@dataclass(frozen=True)
class Code:
    """A kernel of an architecture, and what came of comparing it."""

    instructions: tuple[Instruction, ...]
    equal: str = ""
    differ: str = ""
    host: str = ""
    kernel: str = ""
    proves: bool = False


@cache
def measured() -> dict[tuple[str, str], dict[str, str]]:
    with (MEASURED / "probes.csv").open(encoding="utf-8") as file:
        return {(row["group"], row["expression"]): row for row in csv.DictReader(file)}


@cache
def compared() -> frozenset[str]:
    """All words that stand in quotes in the tests of kernels: names of the kernels that they launch."""
    texts = (path.read_text(encoding="utf-8") for path in (TESTS / "emulator").glob("*.py"))
    return frozenset(name for text in texts for name in re.findall(r'"(\w+)"', text))


def expressions(arch: str, chosen: tuple[str, ...]) -> Iterator[Code]:
    for probe in probes():
        if probe.on(arch) and probe.group.startswith(chosen):
            yield outcome(probe, arch, module(probe.group, arch)[probe.kernel].program.body)


def outcome(probe: Probe, arch: str, body: tuple[Instruction, ...]) -> Code:
    got, row = results(probe, arch), measured().get((probe.group, probe.expression))
    hosted = probe.host is not None and not on_host(probe).differs(got).size
    same = row is not None and digest(got) == row["digest"]
    told = probe.kernel if arch == "sm_90" else ""
    return Code(body, told if same else "", "" if same else told, probe.kernel if hosted else "", "", hosted or same)


def kernels(arch: str, chosen: tuple[str, ...]) -> Iterator[Code]:
    files = sorted((*KERNELS.glob("*.cu"), *VALIDATION.glob("*/*.cu")), key=lambda path: path.name)
    for path in (path for path in files if path.stem.startswith(chosen)):
        stem = path.stem.split("_")[0] if re.match(r"k\d\d_", path.stem) else path.stem
        whole = arch[3:] in WHOLE.get(stem, "").split()
        some = stem.startswith("k") or arch[3:] in SOME.get(stem, "").split()
        try:
            made = wl.compile(path, arch=arch)
        except wl.errors.CompileError:
            continue
        for name in made:
            body = made[name].program.body
            tried = (whole and not (name in OTHERWISE and int(arch[3:]) < 90)) or (some and name in compared())
            tried |= (name, arch) in SINGLE
            proves = tried and all(map(bind, body))  # those that stop before they start prove nothing
            yield Code(body, kernel=stem if proves else "", proves=proves)


def products(arch: str, chosen: tuple[str, ...]) -> Iterator[Code]:
    """Matrix products beside those of an H200, and of 8-bit floats beside fractions."""
    forms = {"sm_89": BYTE_FORMS, "sm_90": FORMS | BYTE_FORMS, "sm_100": BYTE_FORMS, "sm_120": BYTE_FORMS}
    for form in forms.get(arch, {}).values() if "tensor".startswith(chosen) else ():
        body = wl.compile(source=form.source, arch=arch)["product"].program.body
        yield Code(body, kernel="tensor", proves=True)


def lines_of_ptx(arch: str, chosen: tuple[str, ...]) -> Iterator[Code]:
    """Lines of PTX beside an H200's results, which are those of every architecture."""
    for batch in ptx_forms.batches() if "ptx".startswith(chosen) else ():
        made, lines = ptx_forms.module(batch, arch)
        for form in lines if made else ():
            body = made[form.kernel].program.body
            same = all(map(bind, body)) and ptx_forms.digest(ptx_forms.left_behind(made, form), form) == form.digest
            yield Code(body, form.kernel if same else "", "" if same else form.kernel, "", "", same)


def gather(chosen: tuple[str, ...]) -> dict[str, Evidence]:
    """Of the files and groups whose names begin so."""
    found: dict[str, Evidence] = {}
    for arch in ARCHITECTURES:
        sources = (expressions, kernels, products, lines_of_ptx)
        for code in chain.from_iterable(source(arch, chosen) for source in sources):
            for instruction in {i.opcode: i for i in code.instructions}.values():
                add(found.setdefault(instruction.opcode, Evidence()), code, int(arch[3:]), instruction)
    return found


def add(evidence: Evidence, code: Code, arch: int, instruction: Instruction) -> None:
    evidence.seen.add(arch)
    for names, name in (
        (evidence.equal, code.equal), (evidence.differ, code.differ),
        (evidence.host, code.host), (evidence.kernels, code.kernel),
    ):  # fmt: skip
        names |= {name} - {""}
    if code.proves:
        evidence.proven.add(arch)
    if "`" not in instruction.text and "$" not in instruction.text:  # names of functions are nobody else's
        evidence.example = evidence.example or instruction


def listed(numbers: set[int]) -> str:
    return " ".join(map(str, sorted(numbers)))


def table(found: dict[str, Evidence]) -> list[list[str]]:
    rows = []
    for opcode, e in sorted(found.items()):
        example = ["?", "0", "0"]
        if e.example:
            example = [e.example.text, str(e.example.offset), f"{e.example.encoding:032x}"]
        counts = [str(len(names)) for names in (e.equal, e.differ, e.host)]
        rows.append([opcode, listed(e.seen), listed(e.proven), *counts, " ".join(sorted(e.kernels)), *example])
    return rows


def added(rows: list[list[str]]) -> list[list[str]]:
    """These rows on top of the table that is there; of two counts of expressions the larger one stands."""
    with FILE.open(encoding="utf-8") as file:
        kept = {row[0]: row for row in csv.reader(file) if row != COLUMNS}
    for row in rows:
        old = kept.get(row[0], row)
        names = [listed({int(a) for a in f"{old[k]} {row[k]}".split()}) for k in (1, 2)]
        counts = [str(max(int(old[k]), int(row[k]))) for k in (3, 4, 5)]
        files = " ".join(sorted({*old[6].split(), *row[6].split()}))
        kept[row[0]] = [row[0], *names, *counts, files, *old[7:]]
    return [kept[opcode] for opcode in sorted(kept)]


def main() -> None:
    chosen = tuple(sys.argv[sys.argv.index("--write") + 1 :])
    rows = table(gather(chosen or ("",)))
    rows = [COLUMNS, *(added(rows) if chosen else rows)]
    with FILE.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
    print(f"{len(rows) - 1} opcodes in {FILE}")


if __name__ == "__main__":
    if "--write" not in sys.argv[1:]:
        sys.exit(__doc__)
    main()
