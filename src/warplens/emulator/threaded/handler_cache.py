"""Handler cache: compiled handlers by template; missing ones are compiled together and kept on disk."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from warplens import llvm
from warplens.core.program import Program
from warplens.emulator.access.runtime_library import RuntimeLibrary, declare
from warplens.emulator.threaded.handler import Handler, HandlerContext
from warplens.emulator.threaded.template import Template, TemplateSettings
from warplens.llvm.host_target import Loaded, load
from warplens.system import disk_cache as disk

NAME = 64  # characters of a handler's name


class HandlerCache:
    """Handler cache: handler addresses by template key, for kernels with one runtime library.

    version   names what else the code depends on;  compiled: returns the object file of a module

    On disk each handler maps to the name of an object file, which begins with the number and names of its handlers.
    """

    def __init__(self, version: str, library: RuntimeLibrary, compiled: Callable[[llvm.IRModule], bytes]) -> None:
        self.version, self.library, self.compiled = version, library, compiled
        self.addresses: dict[Any, int] = {}
        self.by_name: dict[str, int] = {}
        self.loaded: list[Loaded] = []  # for the life of the process: code in use must not be freed

    def find(self, templates: Collection[Template], program: Program, setting: TemplateSettings) -> dict[Template, int]:
        """The handler address of each template."""
        wanted = {self._name(template): template for template in templates if template.key not in self.addresses}
        self._recall([name for name in wanted if name not in self.by_name])
        missing = {name: template for name, template in wanted.items() if name not in self.by_name}
        if missing:
            self._make(missing, program, setting)
        for name, template in wanted.items():
            self.addresses[template.key] = self.by_name[name]
        return {template: self.addresses[template.key] for template in templates}

    def _name(self, template: Template) -> str:
        return disk.key("handler", self.version, repr(template.key))

    def _recall(self, names: Iterable[str]) -> None:
        files: dict[bytes, list[str]] = defaultdict(list)
        for name in names:
            if (file := disk.recall("handler", name)) is not None:
                files[file].append(name)
        for file in files:
            code = disk.recall("object", file.decode())
            if code is not None:
                self._load(code)

    def _make(self, missing: Mapping[str, Template], program: Program, setting: TemplateSettings) -> None:
        module = llvm.IRModule(name="handlers")
        declare(module, self.library.signatures)
        context = HandlerContext(module, program, setting)
        for name, template in missing.items():
            Handler(context, name).write(template)
        names = "".join(missing).encode()
        code = len(missing).to_bytes(8, "little") + names + self.compiled(module)
        self._load(code)
        file = disk.key("handlers", names)
        disk.keep("object", file, code)
        for name in missing:
            disk.keep("handler", name, file.encode())

    def _load(self, data: bytes) -> None:
        start = 8 + NAME * int.from_bytes(data[:8], "little")
        names = [data[at : at + NAME].decode() for at in range(8, start, NAME)]
        self.loaded.append(load(self.library.with_routines(data[start:]), names))
        self.by_name.update(self.loaded[-1].addresses)
