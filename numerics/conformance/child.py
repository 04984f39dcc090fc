"""The child: it alone imports and runs the target, within limits, and answers requests with bytes and JSON.

It never learns what is true: it gets inputs, calls, and copies what came back into shared memory. Objects are never
sent, so that nothing the target makes is executed elsewhere.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import socket
import struct
import sys
from collections.abc import Callable
from typing import Any

import torch

from numerics.conformance import capture, loading

M_PERTURB, PERTURBED = -6, 1  # glibc: memory is handed out filled with 0xFE and overwritten when freed
M_ARENA_MAX, ARENAS = -8, 2  # glibc reserves address space for every thread otherwise
PR_SET_PDEATHSIG, SIGKILL = 1, 9
COMPILERS = ("torch._dynamo", "torch.utils.cpp_extension", "triton", "numba")  # loaded: a call may take long
MOST_WRITTEN = 2**28  # bytes of any file

_grad, _enable, _no_grad, _inference = torch.autograd.grad, torch.enable_grad, torch.no_grad, torch.inference_mode
_detach, _requires_grad = torch._C.TensorBase.detach, torch._C.TensorBase.requires_grad_
_dumps, _loads, _pack, _unpack = json.dumps, json.loads, struct.pack, struct.unpack
_default_dtype, _grad_enabled = torch.get_default_dtype, torch.is_grad_enabled
_set_default_dtype, _set_grad_enabled = torch.set_default_dtype, torch.set_grad_enabled


def main(channel: int, memory: int, output: int, errors: int, limits: dict[str, Any]) -> None:
    """Serves requests until the parent closes the channel; never returns."""
    try:
        _confine(output, errors, limits)
        connection = socket.socket(fileno=channel)
        served = Served(capture.Memory(memory, limits["shared"], limits["device"]))
        while (request := receive(connection)) is not None:
            send(connection, served.answer(request))
    finally:
        os._exit(0)


def _confine(output: int, errors: int, limits: dict[str, Any]) -> None:
    os.setsid()
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(PR_SET_PDEATHSIG, SIGKILL)
    if hasattr(libc, "mallopt"):
        libc.mallopt(M_PERTURB, PERTURBED)
        libc.mallopt(M_ARENA_MAX, ARENAS)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(errors, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))
    if limits["device"] == "cpu":  # a GPU's driver reserves address space far beyond what it uses
        resource.setrlimit(resource.RLIMIT_AS, (limits["memory"], limits["memory"]))
    sys.path.insert(0, limits["directory"])
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no worker processes that would outlive the child


def send(connection: socket.socket, message: dict[str, Any]) -> None:
    """One message: its length, then JSON."""
    body = _dumps(message).encode()
    connection.sendall(_pack("!I", len(body)) + body)


def receive(connection: socket.socket) -> dict[str, Any] | None:
    """The next message, None where the other end is closed."""
    head = connection.recv(4, socket.MSG_WAITALL)
    if len(head) < 4:
        return None
    (length,) = _unpack("!I", head)
    return _loads(connection.recv(length, socket.MSG_WAITALL))


class Served:
    """The target in this process, its instances by key, and the memory shared with the parent."""

    def __init__(self, memory: capture.Memory) -> None:
        self.memory = memory
        self.target: loading.Loaded | None = None
        self.backward: Callable | None = None
        self.instances: dict[str, Callable] = {}
        self.parameters: dict[str, dict[str, torch.Tensor]] = {}
        self.objects: dict[str, torch.Tensor] = {}  # input tensors that are to be the same object again

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """What a request gives, or {"raised": "Type: message"}."""
        before = _default_dtype(), _grad_enabled()
        try:
            answer = getattr(self, f"_{request['op']}")(request)
            answer["compiles"] = any(name in sys.modules for name in COMPILERS)
            after = _default_dtype(), _grad_enabled()
            if after != before:
                answer["changed"] = f"default dtype and gradient mode, from {before} to {after}"
            return answer
        except BaseException as error:
            return {"raised": f"{type(error).__name__}: {error}"[:600]}
        finally:
            _set_default_dtype(before[0])
            _set_grad_enabled(before[1])
            sys.stdout.flush()
            sys.stderr.flush()

    def _load(self, request: dict[str, Any]) -> dict[str, Any]:
        if request["target"] is not None:
            self.target = loading.Loaded(request["target"], request["kwargs"], request["groups"])
        if request["backward"] is not None:
            self.backward = loading.resolve(request["backward"])
            if not callable(self.backward):
                raise TypeError("it is not callable")
        kind = self.target.kind if self.target else "none"
        return {"kind": kind, "takes_eps": self.target.takes_eps if self.target else True}

    def _make(self, request: dict[str, Any]) -> dict[str, Any]:
        key, dtype = request["key"], capture.DTYPES[request["dtype"]]
        self.parameters[key] = {}
        if self.target is None:
            return {"parameters": []}
        if self.target.kind == "function":
            self.instances[key] = self.target.as_function(request["eps"])
            return {"parameters": []}
        made = self.target.build(request["channels"], request["eps"], dtype, self.memory.device)
        self.instances[key], self.parameters[key] = made, loading.parameters_of(made)
        return {"parameters": [[name, list(each.shape)] for name, each in self.parameters[key].items()]}

    def _compile(self, request: dict[str, Any]) -> dict[str, Any]:
        self.instances[request["as"]] = torch.compile(self.instances[request["key"]])
        self.parameters[request["as"]] = self.parameters[request["key"]]
        return {}

    def _call(self, request: dict[str, Any]) -> dict[str, Any]:
        key, memory = request["key"], self.memory
        inputs = [self._input(layout, request) for layout in request["inputs"]]
        own, passed, wanted = self.parameters[key], [], []
        trained = request["grad"] and request["frozen"] != "parameters"
        for given in request["parameters"]:
            values = memory.tensor(given["layout"])
            if given["name"] is None:
                passed.append(_requires_grad(values, trained))
                wanted.append(passed[-1])
            else:
                with _no_grad():
                    own[given["name"]].copy_(values)
                _requires_grad(own[given["name"]], request["frozen"] != "parameters")
                wanted.append(own[given["name"]])
        called = self.instances.get(key)
        if isinstance(called, torch.nn.Module):
            called.train(request["train"])
        upstream = [memory.tensor(layout) for layout in request["upstream"]]
        capture.poison(request["poison"], memory.device)
        outputs, gradients, raised = [], [], ""
        if called is not None:
            with (_enable if request["grad"] else _inference if request["inference"] else _no_grad)():
                outputs = called(*inputs, *passed)
                if request["between"]:
                    called(*[memory.tensor(each) for each in request["between"]], *passed)
            outputs = list(outputs) if isinstance(outputs, tuple | list) else [outputs]
        if upstream and self.backward is not None:
            with _no_grad():
                plain = [_detach(each) for each in (*inputs, *wanted)]
                gradients = self.backward(*plain, *upstream, request["eps"])
            gradients = list(gradients) if isinstance(gradients, tuple | list) else [gradients]
        elif upstream:
            capture.poison(request["poison"], memory.device)
            try:
                gradients = self._gradients(outputs, [*inputs, *wanted], upstream)
            except Exception as error:
                raised = f"{type(error).__name__}: {error}"[:600]
        places = iter(request["places"])
        answer = {
            "outputs": [memory.record(each, next(places)) for each in outputs[: len(inputs)]],
            "gradients": [memory.record(each, next(places)) for each in gradients[: len(inputs) + len(wanted)]],
            "gradient_raised": raised,
            "count": [len(outputs), len(gradients)],
            "after": [memory.record(each, place) for each, place in zip(wanted, request["kept"], strict=True)],
        }
        memory.write_back()
        return answer

    def _input(self, layout: dict[str, Any], request: dict[str, Any]) -> torch.Tensor:
        name = json.dumps(layout)
        found = self.objects.get(name) if request["same_object"] else None
        if found is None:
            found = self.memory.tensor(layout)
            self.objects = {name: found} if request["same_object"] else {}
        elif self.memory.device != "cpu":  # on a CPU it lies in the shared memory, and has the new values already
            capture.overwrite(found, self.memory.tensor(layout))
        return _requires_grad(_detach(found), request["frozen"] != "input") if request["grad"] else found

    def _gradients(self, outputs: list, sources: list[torch.Tensor], upstream: list[torch.Tensor]) -> list:
        live = [each for each in sources if each.requires_grad]
        with _enable():
            found = iter(_grad(outputs, live, upstream, allow_unused=True))
        return [next(found) if each.requires_grad else None for each in sources]
