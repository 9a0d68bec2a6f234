"""Cubin reader: parses an ELF image into kernels, constants and relocations.

Where a cubin keeps what: `.text.<kernel>` the code, `.nv.info` and `.nv.info.<kernel>` the attributes,
`.nv.constant<bank>.<kernel>` and `.nv.constant<bank>` the constant banks, `.nv.shared.<kernel>` the size of
static shared memory, `.nv.global.init` and `.nv.global` the module's variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warplens.compiler.architecture import ARCHITECTURES
from warplens.compiler.line_table import INSTRUCTION_BYTES, line_tables, lines_of
from warplens.compiler.nv_info import FunctionAttributes, function_attributes, kernel_attributes
from warplens.core.cubin import Cubin, Kernel, Relocation, SourceLine, Variable, chip_number
from warplens.errors import CubinError

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

EM_CUDA = 190
FATBIN_MAGIC = b"\x50\xed\x55\xba"
RESERVED_SHARED_BYTES = 0x400
"""The driver's own part of shared memory, counted in .nv.shared.<kernel> from sm_90 on."""

MODULE_BANKS = (3, 4)
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
    if data[:512].isascii() and b"\0" not in data[:512]:
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
        self.addresses = self._relocations(".nv.constant4")

    def cubin(self) -> Cubin:
        image, variables = self._globals()
        kernels = sorted(self._kernels(), key=_place_in_source)
        if not kernels and any(name.startswith(".text.") for name in self.sections):
            raise CubinError("there is no kernel in this cubin, only device functions; link it first")
        return Cubin(
            arch=self.arch,
            kernels={kernel.name: kernel for kernel in kernels},
            globals_image=image,
            globals=variables,
            data=self.data,
            sources=self.sources,
            constants=self._variables(".nv.constant3", 0),
            relocations=self._relocations(".nv.global.init"),
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
        tables = line_tables(self.elf, self.sources)
        for symbol in self.symbols:
            # a device function has no launch block, so no constant bank 0
            if symbol.section == f".text.{symbol.name}" and f".nv.constant0.{symbol.name}" in self.sections:
                table = tables.get(self.numbers[symbol.section], [])
                yield self._kernel(symbol, attributes.get(symbol.number, FunctionAttributes()), table)

    def _kernel(
        self, symbol: _Symbol, function: FunctionAttributes, table: list[tuple[int, int, SourceLine]]
    ) -> Kernel:
        name = symbol.name
        code = self._bytes(symbol.section)
        if not code or len(code) % INSTRUCTION_BYTES:
            raise CubinError(f"the code of {name} has {len(code)} bytes, no multiple of {INSTRUCTION_BYTES}")
        own = kernel_attributes(self._bytes(f".nv.info.{name}"))
        flags, info = self.sections[symbol.section]["sh_flags"], self.sections[symbol.section]["sh_info"]
        constants = {bank: self._bytes(f".nv.constant{bank}.{name}") for bank in KERNEL_BANKS}
        constants |= {bank: self._bytes(f".nv.constant{bank}") for bank in MODULE_BANKS}
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
            code=code,
            functions=self._functions(symbol),
            constants={bank: content for bank, content in constants.items() if content},
            relocations=self.addresses,
            lines=lines_of(table, len(code) // INSTRUCTION_BYTES),
            branch_targets=own.branch_targets,
            externs=tuple(self.symbols[number].name for number in own.externs),
            symbol=symbol.number,
        )

    def _shared_bytes(self, kernel: str) -> int:
        section = self.sections.get(f".nv.shared.{kernel}")
        if section is None:
            return 0
        reserved = RESERVED_SHARED_BYTES if chip_number(self.arch) >= 90 else 0
        return max(0, int(section["sh_size"]) - reserved)

    def _functions(self, kernel: _Symbol) -> dict[str, int]:
        inside = (s for s in self.symbols if s.section == kernel.section and s.type == "STT_FUNC")
        return {symbol.name: symbol.value for symbol in sorted(inside, key=lambda symbol: symbol.value)}

    def _globals(self) -> tuple[bytes, dict[str, Variable]]:
        """Initialised variables first, so that places in .nv.global.init stay what they are."""
        initialised = self._bytes(".nv.global.init")
        zeroed = self._bytes(".nv.global")
        alignment = self.sections[".nv.global"]["sh_addralign"] if zeroed else 1
        padding = bytes(-len(initialised) % max(1, min(alignment, 1 << 16)))
        variables = self._variables(".nv.global.init", 0)
        variables |= self._variables(".nv.global", len(initialised) + len(padding))
        return initialised + padding + zeroed, variables

    def _variables(self, section: str, start: int) -> dict[str, Variable]:
        return {
            symbol.name: Variable(start + symbol.value, symbol.size)
            for symbol in self.symbols
            if symbol.section == section and symbol.type == "STT_OBJECT"
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
