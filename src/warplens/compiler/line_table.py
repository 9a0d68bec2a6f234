"""Line table: the source line of every instruction, from .debug_line (DWARF 2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

from warplens.core.cubin import SourceLine

if TYPE_CHECKING:
    from elftools.elf.elffile import ELFFile

INSTRUCTION_BYTES = 16

# A cubin's line programs start each sequence at a relocated address in the section of one kernel.  The
# section's number is put above the 32-bit offset, so that one address names both.
SECTION_SHIFT = 32

Lines = tuple[SourceLine | None, ...]


def line_tables(elf: ELFFile, names: Collection[str] = ()) -> dict[int, list[tuple[int, int, SourceLine]]]:
    """Section number -> (first offset, end offset, line), in the order of the line programs.

    `names`: files as they were passed to the compiler; it notes them with its working directory in front.
    """
    section = elf.get_section_by_name(".debug_line")
    tables: dict[int, list[tuple[int, int, SourceLine]]] = {}
    if section is None:
        return tables
    for program in _programs(_relocated(elf, section)):
        previous: tuple[int, SourceLine] | None = None
        for entry in program.get_entries():
            state = entry.state
            if state is None:
                continue
            if previous is not None:
                start, at = previous
                number, offset = divmod(start, 1 << SECTION_SHIFT)
                tables.setdefault(number, []).append((offset, offset + state.address - start, at))
            line = SourceLine(_as_given(_file(program, state.file), names), state.line)
            previous = None if state.end_sequence else (state.address, line)
    return tables


def lines_of(table: list[tuple[int, int, SourceLine]], instructions: int) -> Lines:
    """One entry an instruction of the section."""
    lines: list[SourceLine | None] = [None] * instructions
    for start, end, line in table:
        for index in range(start // INSTRUCTION_BYTES, min(end // INSTRUCTION_BYTES, instructions)):
            lines[index] = line
    return tuple(lines)


def _relocated(elf: ELFFile, section: Any) -> bytes:
    data = bytearray(section.data())
    symbols = elf.get_section_by_name(".symtab")
    table = elf.get_section_by_name(".rela.debug_line") or elf.get_section_by_name(".rel.debug_line")
    for relocation in table.iter_relocations() if table else ():
        place = slice(relocation["r_offset"], relocation["r_offset"] + 8)
        symbol = symbols.get_symbol(relocation["r_info_sym"])
        addend = relocation["r_addend"] if relocation.is_RELA() else int.from_bytes(data[place], "little")
        address = (symbol["st_shndx"] << SECTION_SHIFT) + symbol["st_value"] + addend
        data[place] = address.to_bytes(8, "little")
    return bytes(data)


def _programs(data: bytes) -> Iterator[Any]:
    """Each line program of the section; there is no .debug_info that has their offsets."""
    from elftools.common.utils import struct_parse
    from elftools.dwarf.lineprogram import LineProgram
    from elftools.dwarf.structs import DWARFStructs

    structs = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8)
    stream = BytesIO(data)
    at = 0
    while at < len(data):
        header = struct_parse(structs.Dwarf_lineprog_header, stream, at)
        end = at + header["unit_length"] + structs.initial_length_field_size()
        yield LineProgram(header, stream, structs, stream.tell(), end)
        at = end


def _file(program: Any, number: int) -> str:
    entry = program["file_entry"][number - 1]
    name: str = entry.name.decode(errors="replace")
    if entry.dir_index == 0:
        return name
    return f"{program['include_directory'][entry.dir_index - 1].decode(errors='replace')}/{name}"


def _as_given(path: str, names: Collection[str]) -> str:
    return next((name for name in names if path.endswith(f"/{name}")), path)
