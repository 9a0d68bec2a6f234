"""IR module: modules, functions and basic blocks of LLVM IR as text."""

from __future__ import annotations

from collections.abc import Sequence

from warplens.llvm.types import FunctionType, PointerType, Type
from warplens.llvm.values import IRConstant, Value


class IRModule:
    """IR module; `globals` are its functions by name."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.globals: dict[str, Function] = {}
        self.variables: list[GlobalVariable] = []
        self._metadata: dict[str, int] = {}

    @property
    def functions(self) -> list[Function]:
        return list(self.globals.values())

    def metadata(self, text: str) -> str:
        """Adds metadata; returns its number."""
        return f"!{self._metadata.setdefault(text, len(self._metadata))}"

    def text_of(self, name: str) -> str:
        """The text with the definition of this function alone; the others are declared."""
        others = (f.declaration for f in self.functions if f.name != name)
        return "\n".join([*map(str, self.variables), *others, str(self.globals[name]), *self._metadata_lines, ""])

    @property
    def metadata_nodes(self) -> list[str]:
        return list(self._metadata)

    @property
    def _metadata_lines(self) -> list[str]:
        return [f"!{number} = !{{{text}}}" for text, number in self._metadata.items()]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.variables), *map(str, self.functions), *self._metadata_lines, ""])


class BasicBlock:
    """Basic block: a line an instruction; `end` is the terminator."""

    __slots__ = ("end", "function", "label", "lines")

    def __init__(self, function: Function, label: str) -> None:
        self.function = function
        self.label = label
        self.lines: list[str] = []
        self.end: str | None = None

    @property
    def is_terminated(self) -> bool:
        return self.end is not None


class Function(Value):
    """Function: declared, and defined once it has a block."""

    __slots__ = (
        "args", "attributes", "blocks", "count", "function_type", "helper", "labels", "linkage", "module", "name",
        "noalias",
    )  # fmt: skip

    def __init__(self, module: IRModule, kind: FunctionType, name: str) -> None:
        super().__init__(PointerType(), f'@"{name}"')
        self.module, self.name, self.function_type = module, name, kind
        self.args = tuple(Value(a, f"%a{n}") for n, a in enumerate(kind.args))
        self.noalias: Sequence[Value] = ()  # arguments that do not alias others
        self.attributes: set[str] = set()
        self.linkage = ""
        self.helper = False  # may be compiled in a module of its own (function_extraction.py)
        self.blocks: list[BasicBlock] = []
        self.count = 0  # of values so far
        self.labels: dict[str, int] = {}
        module.globals[name] = self

    @property
    def is_declaration(self) -> bool:
        return not self.blocks

    def new_block(self, name: str) -> BasicBlock:
        """A block that is still to be appended to `blocks`."""
        times = self.labels[name] = self.labels.get(name, -1) + 1
        return BasicBlock(self, f"{name}.{times}")

    def append_basic_block(self, name: str = "b") -> BasicBlock:
        self.blocks.append(self.new_block(name))
        return self.blocks[-1]

    @property
    def declaration(self) -> str:
        result, given = self.function_type.return_type.text, self.function_type.args
        return f"declare {result} {self.text}({', '.join(a.text for a in given)})"

    def __str__(self) -> str:
        if self.is_declaration:
            return self.declaration
        result = self.function_type.return_type.text
        given = ", ".join(f"{a.type}{' noalias' if a in self.noalias else ''} {a.text}" for a in self.args)
        words = " ".join(sorted(self.attributes))
        linkage = "" if self.linkage == "external" else self.linkage
        lines = [f"define {linkage} {result} {self.text}({given}) {words} {{"]
        for block in self.blocks:
            assert block.end is not None, f"{self.name}: block {block.label} leads nowhere"
            lines.append(f"{block.label}:")
            lines += block.lines
            lines.append(block.end)
        lines.append("}")
        return "\n".join(lines)


class GlobalVariable(Value):
    __slots__ = ("global_constant", "initializer", "kind")

    def __init__(self, module: IRModule, kind: Type, name: str) -> None:
        super().__init__(PointerType(), f'@"{name}"')
        self.kind = kind
        self.global_constant = False
        self.initializer: IRConstant = IRConstant(kind, None)
        module.variables.append(self)

    def __str__(self) -> str:
        word = "constant" if self.global_constant else "global"
        return f"{self.text} = {word} {self.kind.text} {self.initializer.text}"


__all__ = ["BasicBlock", "Function", "GlobalVariable", "IRModule"]
