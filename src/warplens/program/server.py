"""Server: starts a program, answers its processes until they have ended, and gives the report's content.

All happens on one thread: a launch is executed while the process that asked for it waits.
"""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import shlex
import signal
import socket
import struct
import subprocess
from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from warplens.errors import UsageError
from warplens.program.device import Device, Options
from warplens.program.device_attributes import LINK_OF, greeting
from warplens.program.launch_log import LaunchLog
from warplens.program.protocol import HEAD, Operation, answer, launch_message, named, notices, receive
from warplens.program.shim_library import NAMES, library
from warplens.report.program_view import ProgramView

PR_SET_PDEATHSIG = 1
PATIENCE_SECONDS = 2.0  # for a program to end when it is asked to
SIGNALLED = 128  # a shell adds this to the signal that ended a program


@dataclass(frozen=True)
class Outcome:
    """Outcome: the program's exit code, and what it did on the GPU."""

    exit_code: int
    view: ProgramView


def serve(command: Sequence[str], options: Options) -> Outcome:
    """Runs the program to its end, or until Ctrl-C.  UsageError if it cannot be started."""
    view = ProgramView(shlex.join(command), options.gpu)
    log = LaunchLog(view)
    if options.gpu.host_link is None:
        log.note(f"the link between the {options.gpu.title} and its host is not described: copies take the {LINK_OF}'s")
    with library() as folder, Server(options, log) as server:
        child = start(command, folder, server.name)
        try:
            code = server.run_until_end_of(child)
        except KeyboardInterrupt:
            view.ended = "interrupted by Ctrl-C"
            code = SIGNALLED + signal.SIGINT
        finally:
            stop(child, server.processes)
    return Outcome(code, view)


def start(command: Sequence[str], folder: Path, server: str) -> subprocess.Popen[bytes]:
    """The program, with the library before all others."""
    paths = [str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
    preloaded = [str(folder / NAMES[0]), *filter(None, [os.environ.get("LD_PRELOAD")])]
    environment = os.environ | {
        "LD_LIBRARY_PATH": ":".join(paths), "LD_PRELOAD": ":".join(preloaded), "WARPLENS_SERVER": server,
    }  # fmt: skip
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    try:
        return subprocess.Popen(command, env=environment, preexec_fn=end_with_parent)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror}") from None


def stop(child: subprocess.Popen[bytes], others: Sequence[int]) -> None:
    """Ends what still runs: the program, and its processes that use the GPU."""
    for process in others:
        if process != child.pid:
            with suppress(OSError):
                os.kill(process, signal.SIGTERM)
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(PATIENCE_SECONDS)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            child.kill()
            child.wait()


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

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        for connection in list(self.devices):
            self._end(connection)
        self.selector.close()
        self.socket.close()

    @property
    def processes(self) -> list[int]:
        """Those that are connected."""
        return [process for process, _ in self.devices.values()]

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
                        self._end(key.fileobj)
        finally:
            os.close(ended)
        code = child.wait()
        return code if code >= 0 else SIGNALLED - code

    def _connect(self) -> None:
        connection, _ = self.socket.accept()
        credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        process, user, _ = struct.unpack("3i", credentials)
        head = receive(connection, HEAD.size + 4)
        if user != os.getuid() or not head or HEAD.unpack_from(head)[0] != Operation.HELLO:
            connection.close()
            return
        device = Device(self.options, self.log)
        connection.sendmsg([b"\0"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [device.arena.file]))])
        answer(connection, 0, greeting(self.options.gpu, self.options.gpus, self.options.real_time))
        self.selector.register(connection, selectors.EVENT_READ)
        self.devices[connection] = process, device

    def _end(self, connection: socket.socket) -> None:
        _, device = self.devices.pop(connection)
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
            payload = receive(connection, size)
            if size and not payload:
                return False
            device = self.devices[connection][1]
            match operation:
                case Operation.NOTICES:
                    for notice in notices(payload):
                        device.notice(notice)
                case Operation.MISSING:
                    self.log.missed(payload.decode(errors="replace"))
                case _:
                    answer(connection, *self._asked(device, operation, payload))
        except OSError:  # it has ended meanwhile
            return False
        return True

    def _asked(self, device: Device, operation: int, payload: bytes) -> tuple[int, bytes]:
        match operation:
            case Operation.LAUNCH:
                return device.launch(launch_message(payload))
            case Operation.LOAD:
                return device.load(payload)
            case Operation.FUNCTION:
                return device.function(*named(payload))
            case Operation.GLOBAL:
                return device.variable(*named(payload))
            case Operation.OCCUPANCY:
                return device.occupancy(payload)
            case Operation.LINK:
                return device.link(payload)
            case Operation.UNLOAD:
                return device.unload(named(payload)[0])
        raise AssertionError(f"operation {operation} is not known")
