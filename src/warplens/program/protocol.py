"""Protocol: messages of the library in the program (shim/protocol.h), as records."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct, calcsize
from typing import NamedTuple, TypeVar

from warplens.core.launch import Dim3

T = TypeVar("T")

HEAD = Struct("<II")  # operation, or status of an answer; bytes that follow


class Operation(IntEnum):
    HELLO = 1
    NOTICES = 2
    LOAD = 3
    FUNCTION = 4
    GLOBAL = 5
    LAUNCH = 6
    OCCUPANCY = 7
    UNLOAD = 8
    MISSING = 9
    LINK = 10
    TEXTURE = 11
    TENSOR_MAP = 12
    KERNELS = 13
    REPEAT = 14
    ACCESS = 15
    DEFER = 16
    API_ERROR = 64


class BlockAccess(IntEnum):
    """Block access: what the program does with a block next."""

    READ = 0
    WRITTEN_IN_PART = 1
    WRITTEN_AS_WHOLE = 2


REPEATABLE, DEFERRED = 1, 2  # flags of the answer to a launch


class NoticeKind:
    """Kinds of notices: plain numbers, as a member of an enumeration takes a microsecond to look up in Python 3.11."""

    ALLOCATED = 1
    FREED = 2
    WRITTEN = 3
    COPIED = 4
    REPEATED = 5
    MAPPED = 6
    HEAP_LIMIT = 7
    STACK_LIMIT = 8
    MOVED_FROM = 9
    CONTEXT_ENDED = 10
    TIMED = 32
    MISUSED = 33
    UNSYNCHRONIZED = 34
    FILLED = 48
    DUPLICATED = 49


class Status(IntEnum):
    """Status: codes of cudaError_t and CUresult."""

    SUCCESS = 0
    INVALID_VALUE = 1
    OUT_OF_MEMORY = 2
    INVALID_CONFIGURATION = 9
    INVALID_IMAGE = 200
    NO_BINARY = 209
    INVALID_PTX = 218
    NOT_FOUND = 500
    ILLEGAL_ADDRESS = 700
    OUT_OF_RESOURCES = 701
    TIMEOUT = 702
    ASSERT = 710
    ILLEGAL_INSTRUCTION = 715
    MISALIGNED = 716
    INVALID_PC = 718
    LAUNCH_FAILED = 719
    TOO_LARGE = 720
    NOT_SUPPORTED = 801


GREETING = Struct("<4Q27d2i160i256s16s")
NOTICE = Struct("<IIQQq")
LOADED = Struct("<IIQQQQ")
FUNCTION = Struct("<12I")
PARAMETER = Struct("<II")
GLOBAL = Struct("<QQ")
LAUNCH = Struct("<12I")
LAUNCHED = Struct("<qdiIIIQ")
REPEATED = Struct("<qQ")
TOUCHED = Struct("<QII")
ACCESS = Struct("<QII")
DEFER = Struct("<7Q2I")
DEFERRAL = Struct("<II")
OCCUPANCY = Struct("<IIII")
WORD = Struct("<i")
TENSOR_MAP = Struct("<10Q16I7i3I")
CHECKS = Struct("<ii")  # behind the greeting
API_ERROR = Struct("<II")


class Notice(NamedTuple):
    """Notice: what a call did that needs no answer.

    detail   kind of a block, or of a copy, or a stream, or the bytes of a fill's element
    more     nanoseconds of a copy or launch, or a fill's value; the block that one was copied from; of a block that is
             mapped elsewhere the address of its content; of a freed one whether its context ends and the program has
             not freed it
    """

    kind: int
    detail: int
    address: int
    size: int
    more: int


@dataclass(frozen=True, slots=True)
class LaunchMessage:
    """Launch message: a function by number; cluster (0, 0, 0): as the kernel demands."""

    function: int
    grid: Dim3
    block: Dim3
    shared: int
    cluster: Dim3
    cooperative: bool
    parameters: bytes


class MalformedMessage(Exception):
    """Malformed message: of an operation, or about a thing, that does not exist."""


def known(things: Mapping[int, T], number: int) -> T:
    """The thing that a message names by its number."""
    if number not in things:
        raise MalformedMessage(number)
    return things[number]


def notices(payload: bytes) -> Iterator[Notice]:
    return map(Notice._make, NOTICE.iter_unpack(payload))


def launch_message(payload: bytes) -> LaunchMessage:
    function, gx, gy, gz, bx, by, bz, shared, cx, cy, cz, cooperative = LAUNCH.unpack_from(payload)
    return LaunchMessage(
        function, (gx, gy, gz), (bx, by, bz), shared, (cx, cy, cz), bool(cooperative), payload[LAUNCH.size :]
    )


def named(payload: bytes) -> tuple[int, str]:
    """A number, and a name behind it."""
    (number,) = WORD.unpack_from(payload)
    return number, payload[calcsize("i") :].decode(errors="replace")


def receive(connection: socket.socket, size: int) -> bytes:
    """So many bytes; b"" where the program has gone."""
    parts = []
    while size:
        part = connection.recv(min(size, 1 << 20))
        if not part:
            return b""
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def answer(connection: socket.socket, status: int, payload: bytes = b"") -> None:
    connection.sendall(HEAD.pack(status, len(payload)) + payload)
