"""Kernel selection: which kernels of FILE the words of --kernel mean, as Nsight Compute's -k has them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.api import Module, compile, load_all, read_source
from warplens.compiler.signature import kernels as declared_kernels
from warplens.core.demangle import full_name
from warplens.core.kernel_name import REGEX, base_name, expression_of, found_in
from warplens.errors import UsageError
from warplens.kernel import LaunchableKernel
from warplens.launchspec.lab_toml import launches_beside
from warplens.launchspec.launch_block import KernelEntry, LaunchFile, read_launch_block

SOURCES = (".cu", ".cuh", ".cpp", ".cc", ".h", ".ptx")


@dataclass(frozen=True, slots=True)
class SelectableCode:
    """A file, and what is said of its compilation: --arch, the GPU's architecture, --option."""

    file: str
    arch: str | None
    usual_arch: str
    options: tuple[str, ...] = ()


Found = tuple[KernelEntry, Module]


def selected(code: SelectableCode, words: Sequence[str]) -> tuple[LaunchFile | None, list[Found]]:
    """The launch block, and the kernels that the words mean, each once; all without a word."""
    file = code.file
    if not is_source(file):
        return None, [(_bare(file, name), module) for module, name in _of_binary(code, words)]
    block, modules = launches(file), _Modules(code)
    found = [entry for word in words or (None,) for entry in _entries(block, modules, word)]
    once = {entry.title: entry for entry in found}
    return block, [(entry, modules.of(entry)) for entry in once.values()]


def launches(file: str) -> LaunchFile | None:
    """The launch block of a .cu file, or what the lab.toml beside it says of it."""
    return read_launch_block(read_source(Path(file)), file) or launches_beside(Path(file))


def is_source(file: str) -> bool:
    return Path(file).suffix.lower() in SOURCES


def matching(word: str, names: Iterable[str]) -> list[str]:
    """Those of the names that a word means: one of them, all that are called so without namespaces and template
    arguments, or those in which the expression of regex:EXPR is found."""
    known, expression = list(names), expression_of(word, "--kernel")
    if expression is None:
        return [name for name in known if name == word] or [name for name in known if base_name(name) == word]
    return [name for name in known if found_in(expression, name)]


def kernel_of(module: Module, entry: KernelEntry, file: str) -> LaunchableKernel:
    """UsageError with the place where the launch is told, and the kernel that it may have meant."""
    if entry.name in module:
        return module[entry.name]
    known = list(module)
    (close, *_) = difflib.get_close_matches(entry.name, known, 1, 0) or [""]
    hint = f'it has {", ".join(known)}: write name = "{close}"' if close else "it has none"
    raise UsageError(f"{entry.file}:{entry.line}: [{entry.title}] there is no kernel {entry.name!r} in {file}; {hint}")


def _of_binary(code: SelectableCode, words: Sequence[str]) -> list[tuple[Module, str]]:
    """The kernels that are meant in the modules of a file that is compiled already."""
    file = code.file
    if code.options:
        raise UsageError(f"{file} is compiled already: --option is for source files")
    modules = load_all(file, code.arch, code.usual_arch)
    if not words:
        return [(module, name) for module in modules for name in _all(module, file)]
    found: list[tuple[Module, str]] = []
    for word in words:
        literal = [(module, word) for module in modules if word in module]
        meant = literal or [(module, name) for module in modules for name in _instances(word, module)]
        if not meant:
            raise _unknown(word, file, [name for module in modules for name in module])
        found += meant
    return list(dict.fromkeys(found))


class _Modules:
    """The file, compiled once for each different architecture and set of options."""

    def __init__(self, code: SelectableCode) -> None:
        self.code, self.file = code, code.file
        self._compiled: dict[tuple[str, tuple[str, ...], tuple[str, ...]], Module] = {}

    def of(self, entry: KernelEntry) -> Module:
        arch = self.code.arch or entry.arch or self.code.usual_arch
        options = (*entry.options, *self.code.options)
        plain = self._compiled.get((arch, options, ()))
        asked = set("<:") & set(entry.name) and not (plain and entry.name in plain)  # an instance that is not there
        names = (entry.name,) if asked else ()
        key = arch, options, names
        if key not in self._compiled:
            try:
                self._compiled[key] = compile(self.file, arch=arch, options=key[1], names=names)
            except UsageError as error:
                there = f"; there are: {', '.join(self.plain) or 'none'}" if names and Path(self.file).is_file() else ""
                raise UsageError(f"{error}{there}") from None
        return self._compiled[key]

    @property
    def plain(self) -> Module:
        """Without instances of templates that nothing in the file asks for."""
        return self.of(_bare(self.file, ""))


def _entries(block: LaunchFile | None, modules: _Modules, word: str | None) -> list[KernelEntry]:
    """The tables of the launch block that are meant, or bare ones for kernels that have none."""
    entries = list(block.kernels.values()) if block else []
    file = modules.file
    if word is None:
        return entries or [_bare(file, name) for name in _all(modules.plain, file)]
    titles, names = matching(word, (e.title for e in entries)), matching(word, (e.name for e in entries))
    if meant := [e for e in entries if e.title in titles] or [e for e in entries if e.name in names]:
        return meant
    plain = modules.plain
    known = list(plain)
    if word not in plain and (meant := [_bare(file, name) for name in _instances(word, plain)]):
        return meant
    if not word.startswith(REGEX) and word in modules.of(_bare(file, word)):
        return [_bare(file, word)]
    raise _unknown(word, file, dict.fromkeys([*(e.title for e in entries), *known]))


def _instances(word: str, module: Module) -> list[str]:
    """The same of a module; also by a name with its namespaces, "app::scale"."""
    return matching(word, module) or [name for name in module if full_name(module[name].kernel.name) == word]


def _all(module: Module, file: str) -> list[str]:
    if not len(module):
        found = [name for name, _ in declared_kernels(read_source(Path(file)))] if is_source(file) else ()
        named = f"only templates: say which instance, such as --kernel '{found[0]}<float>'" if found else "no kernels"
        raise UsageError(f"{file} has {named}")
    return list(module)


def _unknown(word: str, file: str, known: Iterable[str]) -> UsageError:
    names = list(known)
    there = ", ".join(names) or "none"
    if word.startswith(REGEX):
        return UsageError(f"no kernel matches {word!r} in {file}; there are: {there}")
    close = difflib.get_close_matches(word, names, 1, 0.7)
    meant = f"; did you mean {close[0]}? There are" if close else "; there are"
    return UsageError(f"no kernel {word!r} in {file}{meant}: {there}")


def _bare(file: str, name: str) -> KernelEntry:
    """What is known of a kernel that no launch block speaks of."""
    return KernelEntry(name, name, None, None, 0, (), None, (), file, 1)
