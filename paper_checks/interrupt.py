"""Ends the process at once on Ctrl-C or SIGTERM: no traceback, no half-written file, no worker left behind.

Python delivers signals between two bytecodes of the main thread, which may be inside a long library call, or inside
an import that turns the interrupt into an error of its own. So a thread waits for the signal instead, tidies up, and
ends the process with status 128 + signal number: 130 for Ctrl-C.
"""

from __future__ import annotations

import os
import signal
import sys
import threading

from paper_checks import output

SIGNALS = (signal.SIGINT, signal.SIGTERM)
SHOW_CURSOR = b"\x1b[?25h\n"


def watch() -> None:
    """Starts watching; call it once, from the main thread, before anything slow is imported."""
    receiver, sender = os.pipe()
    os.set_blocking(sender, False)
    signal.set_wakeup_fd(sender, warn_on_full_buffer=False)
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _leave_to_thread)
    threading.Thread(target=_wait, args=(receiver,), name="interrupt", daemon=True).start()


def _leave_to_thread(number: int, frame: object) -> None:
    """A Python handler must be there for the signal's number to be written to the pipe."""


def _wait(receiver: int) -> None:
    while True:
        number = os.read(receiver, 1)[0]
        if number in SIGNALS:
            _end(128 + number)


def _end(status: int) -> None:
    try:
        output.discard_all()
        multiprocessing = sys.modules.get("multiprocessing")
        for worker in multiprocessing.active_children() if multiprocessing else ():
            os.kill(worker.pid, signal.SIGKILL)
        coq = sys.modules.get("theory.coq_build")
        for process in tuple(getattr(coq, "RUNNING", ())):
            process.kill()
        if sys.stderr.isatty():
            os.write(2, SHOW_CURSOR)
    finally:
        os._exit(status)
