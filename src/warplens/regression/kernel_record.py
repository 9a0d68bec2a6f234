"""Kernel record: what is kept of one version of a kernel: digest of its machine code, counts, counts by source line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from warplens.core.cubin import SourceLine

CHECKSUM_LETTERS = 16
Number = float | int


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Line counts: counts of one source line, by metric, those that are not 0; `text` as it is written."""

    place: SourceLine
    text: str
    counts: Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class KernelKey:
    """Kernel key: which kernel of which file, the architecture of its code, and the GPU whose limits apply."""

    file: str
    name: str
    arch: str
    gpu: str

    def __str__(self) -> str:
        return f"{self.file}:{self.name} ({self.arch}, {self.gpu})"


@dataclass(frozen=True)
class KernelRecord:
    """One version of a kernel.

    code     digest of its machine code in normal form
    launch   as a reader knows it, "8192 blocks of 128 threads"; "" for a kernel that was not launched
    inputs   digest of launch, arguments and variables of the module
    tools    versions by program
    counts   by metric, 'sass("...")' or "spills";  lines: the same by source line
    sampled  whether a part of the grid was run
    """

    key: KernelKey
    code: str
    launch: str
    inputs: str
    tools: Mapping[str, str]
    counts: Mapping[str, Number]
    lines: tuple[LineCounts, ...] = field(default=())
    sampled: bool = False

    @property
    def checksum(self) -> str:
        """Of all that a baseline keeps: an entry edited by hand has another."""
        key = self.key
        lines = [
            [str(line.place.file), line.place.line, line.text, sorted(line.counts.items())] for line in self.lines
        ]
        kept = [
            key.file, key.name, key.arch, key.gpu, self.code, self.launch, self.inputs, sorted(self.tools.items()),
            sorted(self.counts.items()), lines, self.sampled,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(kept, ensure_ascii=True).encode()).hexdigest()[:CHECKSUM_LETTERS]
