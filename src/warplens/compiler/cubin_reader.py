"""Cubin reader: parses an ELF image into kernels, constants and relocations.

Where a cubin keeps what: `.text.<kernel>` the code, `.nv.info` and `.nv.info.<kernel>` the attributes,
`.nv.constant<bank>.<kernel>` and `.nv.constant<bank>` the constant banks, `.nv.shared.<kernel>` the size of
static shared memory, `.nv.global.init` and `.nv.global` the module's variables.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warplens.compiler.architecture import ARCHITECTURES
from warplens.compiler.line_table import INSTRUCTION_BYTES, line_tables, lines_of
from warplens.compiler.nv_info import FunctionAttributes, KernelAttributes, function_attributes, kernel_attributes
from warplens.compiler.variable_placement import VariablePlacement, VariableSymbol
from warplens.core.cubin import Cubin, Kernel, Relocation, SourceLine, Variable, chip_number
from warplens.errors import CubinError

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

EM_CUDA = 190
FATBIN_MAGIC = b"\x50\xed\x55\xba"
RESERVED_SHARED_BYTES = 0x400
"""The driver's own part of shared memory, counted in .nv.shared.<kernel> from sm_90 on."""

MODULE_BANKS = (3, 4)
HALVES = {0x38: 0, 0x39: 4}  # relocations: the lower and the upper half of an address, and its place in there
INITIALISED = ".nv.global.init"
OBJECTS = ("STT_OBJECT", "STT_LOPROC")  # of variables; the second of constants that the linker may merge
KERNEL_BANKS = (0, 2)
LARGEST_IMAGE = 1 << 30
"""Bytes of __device__ variables that are still believed; above, the file is taken for damaged."""


def read_cubin(data: bytes, sources: Mapping[str, str] | None = None) -> Cubin:
    """The kernels and variables of a cubin.  `sources`: text by file name, as it was given to the compiler.

    Raises CubinError, and nothing else, for bytes that are no cubin or a damaged one, and for architectures
    that are not known.
    """
    _refuse_other_formats(data)
    from elftools.elf.elffile import ELFFile

    try:
        return _CubinReader(ELFFile(BytesIO(data)), data, sources or {}).cubin()
    except CubinError:
        raise
    except Exception as error:  # a damaged file can fail anywhere in the ELF and DWARF readers
        raise CubinError(f"the cubin is damaged or cut short ({type(error).__name__}: {error})") from error


def is_cubin(data: bytes) -> bool:
    return data.startswith(b"\x7fELF") and _machine(data) == EM_CUDA


def _machine(data: bytes) -> int:
    return int.from_bytes(data[18:20], "little")


def _is_text(data: bytes) -> bool:
    """Whether this is UTF-8; the last character may be cut short."""
    try:
        return "\0" not in getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return False


def _refuse_other_formats(data: bytes) -> None:
    if not data:
        raise CubinError("the file is empty; a cubin is needed")
    if data.startswith(FATBIN_MAGIC):
        raise CubinError("this is a fatbin that is damaged, or of a version that is not known")
    if data.startswith(b"\x7fELF"):
        if len(data) < 64:
            raise CubinError(f"the cubin is cut short: {len(data)} bytes, less than its header")
        if not is_cubin(data):
            raise CubinError(f"this ELF file has no code for NVIDIA GPUs (machine {_machine(data)}, not {EM_CUDA})")
        return
    if b".version" in data[:4096] and b".target" in data[:4096]:
        raise CubinError("this is PTX; assemble it with `ptxas`, or compile the CUDA source")
    if _is_text(data[:512]):
        raise CubinError("this is text; a cubin is needed, or a name that ends in .cu")
    raise CubinError("this is not an ELF file; a cubin is needed")


@dataclass(frozen=True, slots=True)
class _Symbol:
    number: int
    name: str
    section: str
    value: int
    size: int
    type: str


class _CubinReader:
    """One pass over an ELF file; sections by name."""

    def __init__(self, elf: ELFFile, data: bytes, sources: Mapping[str, str]) -> None:
        self.elf = elf
        self.data = data
        self.sources = sources
        self._refuse_cut_tables()
        in_order = list(elf.iter_sections())
        self.sections: dict[str, Any] = {section.name: section for section in in_order}
        self.numbers = {section.name: number for number, section in enumerate(in_order)}
        self.names = [section.name for section in in_order]
        self.symbols = list(self._symbols())
        self.arch = self._architecture()
        self.first_named = {symbol.name: symbol.number for symbol in reversed(self.symbols)}
        self.addresses = self._relocations(".nv.constant4")
        self.tables = line_tables(self.elf, self.sources)
        self.has_functions = not all(self._is_kernel(name) for name in self.names if name.startswith(".text."))

    def cubin(self) -> Cubin:
        kernels = sorted(self._kernels(), key=_place_in_source)
        if not kernels and any(name.startswith(".text.") for name in self.sections):
            raise CubinError("there is no kernel in this cubin, only device functions; link it first")
        return Cubin(
            arch=self.arch,
            kernels={kernel.name: kernel for kernel in kernels},
            globals_image=self.placement.image,
            globals=self.placement.variables,
            data=self.data,
            sources=self.sources,
            constants=self._variables(".nv.constant3", 0),
            relocations=tuple(sorted(self._links(), key=lambda relocation: relocation.offset)),
        )

    def _refuse_cut_tables(self) -> None:
        """Both tables lie after the sections, the one of segments last."""
        for kind in ("sh", "ph"):
            count, size = self.elf[f"e_{kind}num"], self.elf[f"e_{kind}entsize"]
            if self.elf[f"e_{kind}off"] + count * size > len(self.data):
                raise CubinError(f"the cubin is cut short: {len(self.data)} bytes, and its tables end behind them")

    def _architecture(self) -> str:
        # The number of the architecture is the lowest byte of the flags, from ABI 8 (CUDA 13) on the second.
        abi, flags = self.elf["e_ident"]["EI_ABIVERSION"], self.elf["e_flags"]
        arch = f"sm_{(flags >> 8 if abi >= 8 else flags) & 0xFF}"
        if arch not in ARCHITECTURES:
            raise CubinError(f"this cubin is for {arch}; known are {', '.join(ARCHITECTURES)}")
        return arch

    def _symbols(self) -> Iterator[_Symbol]:
        if ".symtab" not in self.sections:
            raise CubinError("this cubin has no symbol table, so its kernels cannot be found")
        for number, symbol in enumerate(self.sections[".symtab"].iter_symbols()):
            index = symbol["st_shndx"]
            section = self.names[index] if isinstance(index, int) else ""
            kind = str(symbol["st_info"]["type"])
            yield _Symbol(number, symbol.name, section, symbol["st_value"], symbol["st_size"], kind)

    def _bytes(self, name: str) -> bytes:
        section = self.sections.get(name)
        if section is None:
            return b""
        limit = LARGEST_IMAGE if section["sh_type"] == "SHT_NOBITS" else len(self.data)
        if section["sh_size"] > limit:
            raise CubinError(f"the cubin is damaged or cut short: {name} says {section['sh_size']} bytes")
        content: bytes = section.data()
        if len(content) != section["sh_size"]:
            raise CubinError(f"the cubin is cut short: {name} has {len(content)} of {section['sh_size']} bytes")
        return content

    def _kernels(self) -> Iterator[Kernel]:
        attributes = function_attributes(self._bytes(".nv.info"))
        for symbol in self.symbols:
            if symbol.section == f".text.{symbol.name}" and self._is_kernel(symbol.section):
                yield self._kernel(symbol, attributes.get(symbol.number, FunctionAttributes()))

    def _kernel(self, symbol: _Symbol, function: FunctionAttributes) -> Kernel:
        name = symbol.name
        own = self._attributes(symbol.section)
        linked = self._linked(symbol.section)
        data, relocations = self._data_addresses(linked)
        flags, info = self.sections[symbol.section]["sh_flags"], self.sections[symbol.section]["sh_info"]
        constants = {bank: self._bytes(f".nv.constant{bank}.{name}") for bank in KERNEL_BANKS}
        constants |= {bank: self._bytes(f".nv.constant{bank}") for bank in MODULE_BANKS}
        if relocations:
            constants[4] = constants[4].ljust(relocations[-1].offset + 8, b"\0")
        return Kernel(
            name=name,
            arch=self.arch,
            registers=function.registers or info >> 24,  # the section header, before CUDA 12
            shared_bytes=self._shared_bytes(name),
            local_bytes=function.stack,
            parameters=own.parameters,
            parameter_base=own.parameter_base or len(constants[0]),  # absent for a kernel without parameters
            barriers=own.barriers if own.barriers is not None else flags >> 20 & 0x7F,
            max_threads=own.max_threads,
            cluster=own.cluster,
            block=own.block,
            code=self._joined(linked),
            functions=self._functions(linked),
            constants={bank: content for bank, content in constants.items() if content},
            relocations=(*self.addresses, *relocations),
            lines=self._lines(linked),
            branch_targets=self._branch_targets(linked),
            externs=self._externs(linked),
            symbol=symbol.number,
            linked={section.removeprefix(".text."): place for section, place in linked.items() if place},
            data_addresses=data,
            relocated=any(True for section in linked for _ in self._relocated(section)),
        )

    def _data_addresses(self, linked: Mapping[str, int]) -> tuple[dict[int, int], list[Relocation]]:
        """Of instructions that the linker gives the half of a variable's address (R_CUDA_ABS32_LO_32, _HI_32): where it
        stands in constant bank 4, and what is filled in there, behind what the compiler has in this bank."""
        places: dict[int, int] = {}
        slots: dict[tuple[str, int], int] = {}
        free = -(-len(self._bytes(".nv.constant4")) // 8) * 8
        for section, start in linked.items():
            for entry in self._relocated(section):
                symbol, kind = self.symbols[entry["r_info_sym"]], entry["r_info_type"]
                if kind in HALVES and symbol.section.startswith(".nv.global"):
                    slot = slots.setdefault((self._unique(symbol), entry["r_addend"]), free + 8 * len(slots))
                    places[start + entry["r_offset"]] = slot + HALVES[kind]
        return places, [Relocation(slot, name, addend) for (name, addend), slot in slots.items()]

    def _relocated(self, section: str) -> Iterator[Any]:
        for table in (self.sections.get(f".rela{section}"), self.sections.get(f".rel{section}")):
            if table is not None:
                yield from table.iter_relocations()

    def _unique(self, symbol: _Symbol) -> str:
        """Local names of several files may be the same once they are linked."""
        first = self.first_named[symbol.name]
        return symbol.name if first == symbol.number else f"{symbol.name}.{symbol.number}"

    def _attributes(self, section: str) -> KernelAttributes:
        return kernel_attributes(self._bytes(f".nv.info.{section.removeprefix('.text.')}"))

    def _branch_targets(self, linked: Mapping[str, int]) -> dict[int, tuple[int, ...]]:
        return {
            place + offset: tuple(place + target for target in targets)
            for section, place in linked.items()
            for offset, targets in self._attributes(section).branch_targets.items()
        }

    def _externs(self, linked: Mapping[str, int]) -> tuple[str, ...]:
        named = (self.symbols[number] for section in linked for number in self._attributes(section).externs)
        return tuple(dict.fromkeys(symbol.name for symbol in named if symbol.section not in linked))

    def _code(self, section: str) -> bytes:
        code = self._bytes(section)
        if not code or len(code) % INSTRUCTION_BYTES:
            name = section.removeprefix(".text.")
            raise CubinError(f"the code of {name} has {len(code)} bytes, no multiple of {INSTRUCTION_BYTES}")
        return code

    def _joined(self, linked: Mapping[str, int]) -> bytes:
        code = b""
        for section, place in linked.items():
            code = code.ljust(place, b"\0") + self._code(section)
        return code

    def _lines(self, linked: Mapping[str, int]) -> tuple[SourceLine | None, ...]:
        found: list[SourceLine | None] = []
        for section, place in linked.items():
            found += [None] * (place // INSTRUCTION_BYTES - len(found))
            found += lines_of(self.tables.get(self.numbers[section], []), len(self._code(section)) // INSTRUCTION_BYTES)
        return tuple(found)

    def _is_kernel(self, section: str) -> bool:
        """A device function has no launch block, so no constant bank 0."""
        return f".nv.constant0.{section.removeprefix('.text.')}" in self.sections

    def _linked(self, section: str) -> dict[str, int]:
        """Sections of a kernel's code, with their places in it: its own, and those of functions that were compiled by
        themselves: those that relocations lead to, or where any has its address taken, all, in the same places in
        every kernel, as one kernel may store an address and another call it."""
        if self.addresses_taken:
            return {section: 0} | self.common
        places: dict[str, int] = {}
        size, waiting = 0, [section]
        while waiting:
            name = waiting.pop(0)
            if name not in places:
                places[name] = size
                size += len(self._code(name))
                waiting += self._called(name) if self.has_functions else ()
        return places

    @cached_property
    def addresses_taken(self) -> bool:
        """Whether data or code has the address of a function in a section of its own."""
        data = (e["r_info_sym"] for name in (INITIALISED, ".nv.constant4") for e in self._relocated(name))
        code = (
            entry["r_info_sym"]
            for name in (self.names if self.has_functions else ())
            if name.startswith(".text.")
            for entry in self._relocated(name)
            if entry["r_info_type"] in HALVES and self.symbols[entry["r_info_sym"]].section != name
        )
        sections = {self.symbols[n].section for n in (*data, *code) if self.symbols[n].type == "STT_FUNC"}
        return any(name.startswith(".text.") and not self._is_kernel(name) for name in sections)

    @cached_property
    def common(self) -> dict[str, int]:
        """Places of all functions, behind the longest kernel."""
        code = [name for name in self.names if name.startswith(".text.")]
        place = max(len(self._code(name)) for name in code if self._is_kernel(name))
        places = {}
        for name in code:
            if not self._is_kernel(name):
                places[name] = place
                place += len(self._code(name))
        return places

    def _called(self, section: str) -> list[str]:
        named = (self.symbols[entry["r_info_sym"]] for entry in self._relocated(section))
        inside = (symbol.section for symbol in named if symbol.type == "STT_FUNC")
        return [name for name in inside if name.startswith(".text.") and not self._is_kernel(name)]

    def _shared_bytes(self, kernel: str) -> int:
        section = self.sections.get(f".nv.shared.{kernel}")
        if section is None:
            return 0
        reserved = RESERVED_SHARED_BYTES if chip_number(self.arch) >= 90 else 0
        return max(0, int(section["sh_size"]) - reserved)

    def _functions(self, linked: Mapping[str, int]) -> dict[str, int]:
        inside = (s for s in self.symbols if s.section in linked and s.type == "STT_FUNC")
        placed = [(linked[symbol.section] + symbol.value, symbol.name) for symbol in inside]
        known = {name: place for place, name in sorted(placed, key=lambda one: one[0])}
        return known | {f"{name}__{n}": known[name] for name in known for n in range(self.copies.get(name, 0))}

    @cached_property
    def copies(self) -> dict[str, int]:
        """Functions of several linked files with the same name, in sections of the same name and content, and how many
        there are: the disassembler numbers them, as name__0."""
        found: dict[str, list[bytes]] = {}
        for section in self.elf.iter_sections():
            if section.name.startswith(".text.") and self.names.count(section.name) > 1:
                found.setdefault(section.name.removeprefix(".text."), []).append(section.data())
        return {name: len(each) for name, each in found.items() if len(set(each)) == 1}

    @cached_property
    def placement(self) -> VariablePlacement:
        """Of `__device__` variables."""
        sections = (INITIALISED, ".nv.global")
        symbols = [
            VariableSymbol(self._unique(symbol), symbol.section, symbol.value, symbol.size)
            for symbol in self.symbols
            if symbol.section in sections and symbol.type in OBJECTS
        ]
        return VariablePlacement(symbols, {section: self._bytes(section) for section in sections})

    def _links(self) -> Iterator[Relocation]:
        """Addresses of symbols in initialised variables."""
        for relocation in self._relocations(INITIALISED):
            place = self.placement.moved(INITIALISED, relocation.offset)
            if place is not None:
                yield Relocation(place, relocation.symbol, relocation.addend)

    def _variables(self, section: str, start: int) -> dict[str, Variable]:
        return {
            self._unique(symbol): Variable(start + symbol.value, symbol.size)
            for symbol in self.symbols
            if symbol.section == section and symbol.type in OBJECTS
        }

    def _relocations(self, section: str) -> tuple[Relocation, ...]:
        """In order of offset.  Without an addend of its own (.rel), the section holds it."""
        content = self._bytes(section)
        found: list[Relocation] = []
        for table in (self.sections.get(f".rela{section}"), self.sections.get(f".rel{section}")):
            for entry in table.iter_relocations() if table is not None else ():
                offset: int = entry["r_offset"]
                if offset + 8 > len(content):
                    raise CubinError(f"the cubin is damaged: a relocation behind the end of {section}")
                in_place = int.from_bytes(content[offset : offset + 8], "little")
                addend: int = entry["r_addend"] if entry.is_RELA() else in_place
                found.append(Relocation(offset, self.symbols[entry["r_info_sym"]].name, addend))
        return tuple(sorted(found, key=lambda relocation: relocation.offset))


def _place_in_source(kernel: Kernel) -> tuple[str, int]:
    """Of the first instruction, which belongs to the opening line; symbol order decides among equals."""
    first = kernel.lines[0]
    return (first.file, first.line) if first else ("", 0)
