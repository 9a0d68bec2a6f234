"""The public Python API as Markdown: signature and docstring of every public name, for docs/api.md."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import warplens as wl
from warplens import api

FUNCTIONS = (
    "compile", "load", "triton", "triton_launches", "cuda_tile", "cuda_tile_launches", "pitched", "empty_pitched",
    "tensor_map", "advise", "compare", "report",
)  # fmt: skip
CLASSES = (
    "Module", "LaunchableKernel", "TritonKernel", "CudaTileKernel", "Run", "RunComparison", "Sweep", "Prediction",
    "Advice", "Metrics", "Metric", "Pitched", "MappedArray",
)  # fmt: skip


def main() -> None:
    errors = [name for name in wl.__all__ if name not in (*FUNCTIONS, *CLASSES, "__version__")]
    for name in FUNCTIONS:
        print(*entry(f"wl.{name}", getattr(api, name, None) or getattr(wl, name), "##"), sep="\n")
    for name in CLASSES:
        found = getattr(wl, name)
        print(*entry(f"wl.{name}", found, "##"), sep="\n")
        for member, value in vars(found).items():
            if not member.startswith("_") and inspect.getdoc(value) and documented(value):
                print(*entry(f"{name}.{member}", value, "###"), sep="\n")
    print("## Errors\n\nAll are subclasses of `wl.WarplensError`.\n")
    for name in errors:
        print(f"- `wl.{name}`: {' '.join((inspect.getdoc(getattr(wl, name)) or '').split())}")


class Bare(str):
    """An annotation as it is written in the source, without quotes."""

    __repr__ = str.__str__


def documented(value: Any) -> bool:
    return inspect.isfunction(value) or isinstance(value, property | cached_property)


def entry(title: str, value: Any, level: str) -> Iterator[str]:
    """A heading with the signature, and the docstring as text."""
    yield f"{level} `{title}`\n"
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        shown = [p.replace(annotation=Bare(p.annotation)) for name, p in signature.parameters.items() if name != "self"]
        whole = signature.replace(parameters=shown, return_annotation=Bare(signature.return_annotation))
        yield f"```python\n{title}{whole}\n```\n"
    yield f"```text\n{inspect.getdoc(value)}\n```\n"


if __name__ == "__main__":
    main()
