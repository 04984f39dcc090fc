"""Bad usage, told in a single line: which argument, the value it got, the values it takes."""

from __future__ import annotations


class UsageProblem(Exception):
    """Something the user gave that cannot be used; the command line prints it and exits with status 2."""

    def __init__(self, argument: str, given: object, accepted: str) -> None:
        super().__init__(f"{argument}: got {given!r}, accepts {accepted}")


def integer(argument: str, text: str | int, minimum: int, maximum: int) -> int:
    """`text` as an integer from minimum to maximum.

    Raises:
        UsageProblem: it is not one.
    """
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is None or not minimum <= value <= maximum:
        raise UsageProblem(argument, text, f"an integer from {minimum} to {maximum}")
    return value
