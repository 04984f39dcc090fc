"""The parent's side of a child: start one, ask it something within a time, end it.

Whatever a child does is an answer or one of three failures: `Died`, `Hung`, `Garbled`. Messages are JSON of limited
length; nothing a child sends is executed or unpickled.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from typing import Any

LONGEST = 2**20  # bytes of an answer
SHARED = 2**27  # bytes of shared memory
MEMORY = 2**32 + 2**25 * (os.cpu_count() or 1)  # bytes of address space: torch takes 0.6 * 2**30, each thread some
START = (
    "import sys; sys.path[:] = sys.argv[2:]; from numerics.conformance import zygote; zygote.serve(int(sys.argv[1]))"
)


class Failure(Exception):
    """The child gave no answer; the message is a clause that says why."""


class Died(Failure):
    """The process ended."""


class Hung(Failure):
    """The process did not answer in time."""


class Garbled(Failure):
    """The process answered with something that is no answer."""


@functools.cache
def _zygote() -> tuple[socket.socket, threading.Lock]:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", START, str(theirs.fileno()), *sys.path]
    process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True)
    theirs.close()

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours, threading.Lock()


def _ask_zygote(request: dict[str, Any], descriptors: list[int]) -> int:
    connection, lock = _zygote()
    with lock:
        socket.send_fds(connection, [json.dumps(request).encode()], descriptors)
        answer = b""
        while not answer.endswith(b"\n"):
            part = connection.recv(4096)
            if not part:
                raise ConnectionResetError("the process that starts children has ended")
            answer += part
    return json.loads(answer)


class Child:
    """A process that runs one target; `memory` is the file that both map."""

    def __init__(self, memory: int, device: str) -> None:
        self.output = tempfile.TemporaryFile()  # noqa: SIM115
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115
        self.connection, theirs = socket.socketpair()
        limits = {"op": "fork", "shared": SHARED, "memory": MEMORY, "device": device, "directory": os.getcwd()}
        passed = [theirs.fileno(), memory, self.output.fileno(), self.errors.fileno()]
        try:
            self.pid = _ask_zygote(limits, passed)
        except OSError:  # an earlier target has ended the process that children are forked from
            _zygote.cache_clear()
            self.pid = _ask_zygote(limits, passed)
        theirs.close()
        self.ended = False

    def ask(self, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        """The answer to a request.

        Raises:
            Died, Hung, Garbled: there is none; the process is gone then.
        """
        body = json.dumps(request).encode()
        try:
            self.connection.settimeout(seconds)
            self.connection.sendall(struct.pack("!I", len(body)) + body)
            answer = self._receive(time.monotonic() + seconds)
        except TimeoutError:
            self.end()
            raise Hung(f"did not return within {seconds:.0f} s") from None
        except OSError:
            raise Died(self._how_it_ended()) from None
        if answer is None:
            raise Died(self._how_it_ended())
        return answer

    def _receive(self, deadline: float) -> dict[str, Any] | None:
        head = self._exactly(4, deadline)
        if head is None:
            return None
        (length,) = struct.unpack("!I", head)
        body = self._exactly(length, deadline) if length <= LONGEST else b""
        try:
            found = None if body is None else json.loads(body)
        except (ValueError, RecursionError):
            found = ()
        if found is None or isinstance(found, dict):
            return found
        self.end()
        raise Garbled("interfered with the process it runs in, whose answer makes no sense")

    def _exactly(self, length: int, deadline: float) -> bytes | None:
        found = b""
        while len(found) < length:
            self.connection.settimeout(max(deadline - time.monotonic(), 1e-3))
            part = self.connection.recv(length - len(found))
            if not part:
                return None
            found += part
        return found

    def printed(self) -> int:
        """Bytes written to standard output so far."""
        return os.fstat(self.output.fileno()).st_size

    def text(self, start: int = 0) -> str:
        """The first of what was written to standard output from a position on."""
        return os.pread(self.output.fileno(), 80, start).decode(errors="replace").strip()

    def _how_it_ended(self) -> str:
        status = self.end()
        if status is None or status >= 0:
            return f"ended the process (exit status {status})"
        named = {each.value: each.name for each in signal.Signals}
        return f"crashed the process ({named.get(-status, f'signal {-status}')})"

    def end(self) -> int | None:
        """Ends the process and all it started; its exit status (minus the signal), None if that was asked before."""
        if self.ended:
            return None
        self.ended = True
        self.connection.close()
        status = self._reaped()
        self.output.close()
        self.errors.close()
        return status

    def _reaped(self) -> int:
        for _ in range(20):  # a process that closed its end may be about to exit by itself: its status says more
            if _state(self.pid) == "Z":
                break
            time.sleep(0.005)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        try:
            return _ask_zygote({"op": "reap", "pid": self.pid}, [])
        except OSError:
            return -signal.SIGKILL


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
