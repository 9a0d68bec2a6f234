"""Server: starts a program, answers its processes until they have ended, and gives the report's content.

All happens on one thread: a launch is executed while the process that asked for it waits.
"""

from __future__ import annotations

import os
import secrets
import selectors
import shlex
import signal
import socket
import struct
import subprocess
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from warplens.errors import TimeLimitReached, WarplensError
from warplens.program.device import Device
from warplens.program.device_attributes import greeting
from warplens.program.launch_log import LaunchLog
from warplens.program.process.child_process import nothing_left, start
from warplens.program.process.executable_file import stripped, why_not_counted
from warplens.program.process.time_limit import time_limit
from warplens.program.process.vendor_libraries import DRIVER_TABLE, loaded, sentence
from warplens.program.program_options import Options
from warplens.program.protocol import (
    API_ERROR,
    CHECKS,
    HEAD,
    WORD,
    MalformedMessage,
    Operation,
    Status,
    answer,
    launch_message,
    named,
    notices,
    receive,
)
from warplens.program.shim_library import library
from warplens.program.tensor_maps import encoded
from warplens.report.program_view import LINK_OF, ProgramView

SIGNALLED = 128  # a shell adds this to the signal that ended a program
TIMED_OUT = 124  # as of timeout(1)
OPERATIONS = frozenset(Operation)
EARLY_SECONDS = 0.5  # a connection that ends so long before its process was closed by the program


@dataclass(frozen=True)
class Outcome:
    """Outcome: the program's exit code, and what it did on the GPU."""

    exit_code: int
    view: ProgramView


def serve(command: Sequence[str], options: Options, view: ProgramView | None = None) -> Outcome:
    """Runs the program to its end, or until Ctrl-C or the time limit, and leaves none of its processes.

    view   what is filled, also while the program runs
    UsageError if it cannot be started.
    """
    view = view or ProgramView(shlex.join(command), options.gpu)
    log = LaunchLog(view, options.selection, options.checks)
    if options.gpu.host_link is None:
        log.note(f"the link between the {options.gpu.title} and its host is not described: copies take the {LINK_OF}'s")
    view.running = "compiling the library that answers CUDA's calls"
    with library() as folder, Server(options, log) as server, nothing_left():
        view.running = ""
        child = start(command, folder, server.name, options.output)
        try:
            with time_limit(options.timeout):
                code = server.run_until_end_of(child)
        except KeyboardInterrupt:
            view.ended = "interrupted by Ctrl-C" + _meanwhile(view)
            code = SIGNALLED + signal.SIGINT
        except TimeLimitReached:
            view.ended = f"after {options.timeout:g} s, the limit of --timeout" + _meanwhile(view)
            code = TIMED_OUT
    if reason := why_not_counted(command[0]) if not view.processes and not view.ended else stripped(command[0]):
        log.note(f"{Path(command[0]).name}: {reason}")
    for save in options.saves:
        if save.is_open:
            log.note(f"--save-launch {save.kernel}:{save.number}: {save.kernel} was launched {save.launches} times")
    return Outcome(code, view)


def _meanwhile(view: ProgramView) -> str:
    """ ", executing scale": what the end came into."""
    return f", {view.running}" if view.running else ""


def process_name(process: int) -> str:
    """Of the file that it executes; the number where it has gone."""
    try:
        return Path(os.readlink(f"/proc/{process}/exe")).name
    except OSError:
        return str(process)


class Server:
    """Server: a socket without a file, which processes of this user connect to by its random name."""

    def __init__(self, options: Options, log: LaunchLog) -> None:
        self.options, self.log = options, log
        self.name = f"warplens-{secrets.token_hex(16)}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(f"\0{self.name}")
        self.socket.listen()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.socket, selectors.EVENT_READ)
        self.devices: dict[socket.socket, tuple[int, Device]] = {}
        self.disconnected: dict[int, float] = {}  # processes, and when
        self.vendor: dict[int, frozenset[str]] = {}  # files of libraries by NVIDIA that a process has loaded

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in list(self.devices):
            self._end(connection)
        self.selector.close()
        self.socket.close()

    def run_until_end_of(self, child: subprocess.Popen[bytes]) -> int:
        """The exit code of the program, once it and all that it started on the GPU have ended."""
        ended = os.pidfd_open(child.pid)
        self.selector.register(ended, selectors.EVENT_READ)
        running = True
        try:
            while running or self.devices:
                for key, _ in self.selector.select():
                    if key.fileobj is self.socket:
                        self._connect()
                    elif key.fileobj == ended:
                        self.selector.unregister(ended)
                        running = False
                    elif isinstance(key.fileobj, socket.socket) and not self._answer(key.fileobj):
                        device = self.devices[key.fileobj][1]
                        if not device.banned:  # after a fault its memory is gone with its context
                            self.log.check.ended(device.arena)
                        self._end(key.fileobj)
        finally:
            os.close(ended)
        code = child.wait()
        if time.monotonic() - self.disconnected.get(child.pid, time.monotonic()) > EARLY_SECONDS:
            self.log.note("the program closed its connection to `warplens run`: what it did after that is not known")
        return code if code >= 0 else SIGNALLED - code

    def _connect(self) -> None:
        connection, _ = self.socket.accept()
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process, user, _ = struct.unpack("3i", credentials)
        head = receive(connection, HEAD.size + 4)
        if user != os.getuid() or not head or HEAD.unpack_from(head)[0] != Operation.HELLO:
            connection.close()
            return
        self.log.connected(process, process_name(process))
        self.vendor[process] = loaded(process)  # it waits for the greeting meanwhile
        device = Device(self.options, self.log, process)
        connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [device.arena.file]))])
        checks = CHECKS.pack(self.log.check.on, 0)
        answer(connection, 0, greeting(self.options.gpu, self.options.gpus, self.options.real_time) + checks)
        self.selector.register(connection, selectors.EVENT_READ)
        self.disconnected.pop(process, None)
        self.devices[connection] = process, device

    def _end(self, connection: socket.socket) -> None:
        process, device = self.devices.pop(connection)
        self.disconnected[process] = time.monotonic()
        self.selector.unregister(connection)
        connection.close()
        device.close()

    def _answer(self, connection: socket.socket) -> bool:
        """Answers one message; False where the process has gone."""
        try:
            head = receive(connection, HEAD.size)
            if not head:
                return False
            operation, size = HEAD.unpack(head)
            if operation not in OPERATIONS:
                raise MalformedMessage(operation)
            payload = receive(connection, size)
            if size and not payload:
                return False
            process, device = self.devices[connection]
            match operation:
                case Operation.NOTICES:
                    for notice in notices(payload):
                        device.notice(notice)
                case Operation.API_ERROR:
                    kind, error = API_ERROR.unpack_from(payload)
                    self.log.check.api_error(kind, payload[API_ERROR.size :].decode(errors="replace"), error)
                case Operation.MISSING if payload == DRIVER_TABLE:
                    if found := sentence(self.vendor[process] | loaded(process)):
                        self.log.note(found)
                case Operation.MISSING:
                    self.log.missed(payload.decode(errors="replace"))
                case _:
                    answer(connection, *self._asked(device, operation, payload))
        except ConnectionError:  # it has ended meanwhile
            return False
        except (struct.error, MalformedMessage):  # the program wrote into the socket
            self.log.note("the program wrote into its connection to `warplens run`, which is closed now")
            return False
        return True

    def _asked(self, device: Device, operation: int, payload: bytes) -> tuple[int, bytes]:
        """What cannot be done is refused, and the program goes on."""
        try:
            return self._done(device, operation, payload)
        except WarplensError as error:
            reason = str(error)
        except OSError as error:  # of a tool or a file of ours: a full disk, a disassembler that may not be executed
            reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        self.log.note(f"refused with error {int(Status.NOT_SUPPORTED)}: {reason}")
        return Status.NOT_SUPPORTED, b""

    def _done(self, device: Device, operation: int, payload: bytes) -> tuple[int, bytes]:
        match operation:
            case Operation.LAUNCH:
                return device.launch(launch_message(payload))
            case Operation.REPEAT:
                return device.repeat(*WORD.unpack(payload))
            case Operation.ACCESS:
                return device.access(payload)
            case Operation.DEFER:
                return device.defer(payload)
            case Operation.LOAD:
                self.vendor[device.process] |= loaded(device.process)
                return device.load(payload)
            case Operation.FUNCTION:
                return device.function(*named(payload))
            case Operation.GLOBAL:
                return device.variable(*named(payload))
            case Operation.OCCUPANCY:
                return device.occupancy(payload)
            case Operation.LINK:
                return device.link(payload)
            case Operation.TEXTURE:
                return device.texture(payload)
            case Operation.TENSOR_MAP:
                return encoded(payload)
            case Operation.KERNELS:
                return device.kernels(named(payload)[0])
            case Operation.UNLOAD:
                return device.unload(named(payload)[0])
        raise MalformedMessage(operation)
