"""Computations and deductions that ball arithmetic has nothing to say about, each with the reason.

A test compares this list with the statements: whatever is neither here nor answered is an omission.
"""

PROGRAMS = "the statement is about programs that Python compiles or refuses, not about numbers"
FUNCTIONS = "the statement is about every function of a class; a box holds finitely many numbers"

UNCOVERED: dict[tuple[str, str], str] = {
    ("mrsnorm.digest_listing", "the listing compiles: its method bodies are indented"): PROGRAMS,
    ("mrsnorm.digest_listing", "its calls are calls"): PROGRAMS,
    ("mrsnorm.digest_listing", "with method bodies indented it compiles"): PROGRAMS,
    ("mrsnorm.digest_listing", "with parentheses its calls are calls"): PROGRAMS,
    (
        "beyond.power_mean",
        "a C^1 scale S(r) > 0 of degree 1 with uniform interference is a multiple of sum r",
    ): FUNCTIONS,
    (
        "mrsnorm.min_dim",
        "in dimension 1 no unit direction changes continuously from 1 to -1: there is no periodic phase",
    ): FUNCTIONS,
    ("mrsnorm.no_1d", "no continuously differentiable f of period T has |f'| = c > 0 (by integration)"): FUNCTIONS,
    (
        "mrsnorm.no_1d",
        "no f of period T that is differentiable everywhere has |f'| = c > 0 (by the mean value theorem)",
    ): FUNCTIONS,
}
