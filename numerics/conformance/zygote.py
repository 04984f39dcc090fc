"""The process that children are forked from: it has imported torch, and never a target.

A child that hung or died is replaced by a fresh one within milliseconds, and every child starts from the same state.
Parent and zygote talk over one socket: a line of JSON each way, and with "fork" the file descriptors of the child's own
socket, of the shared memory, and of the files that take its standard output and error.
"""

from __future__ import annotations

import importlib
import json
import os
import socket
import warnings

from numerics.conformance import child

DESCRIPTORS = 4
NEEDED = "torch.fx.experimental.symbolic_shapes"  # a backward pass imports it: slow, and the same for every child
LONGEST = 65536  # bytes of a request


def serve(descriptor: int) -> None:
    """Answers "fork" and "reap" until the parent closes its end, or dies."""
    importlib.import_module(NEEDED)
    with socket.socket(fileno=descriptor) as parent:
        while True:
            message, descriptors, _, _ = socket.recv_fds(parent, LONGEST, DESCRIPTORS)
            if not message:
                os._exit(0)
            request = json.loads(message)
            if request["op"] == "fork":
                answer = _fork(parent, descriptors, request)
            else:
                answer = os.waitstatus_to_exitcode(os.waitpid(request["pid"], 0)[1])
            parent.sendall(json.dumps(answer).encode() + b"\n")


def _fork(parent: socket.socket, descriptors: list[int], request: dict) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forking beside threads: those of torch are idle here
        pid = os.fork()
    if pid == 0:
        parent.close()
        child.main(*descriptors, request)
    for descriptor in descriptors:
        os.close(descriptor)
    return pid
