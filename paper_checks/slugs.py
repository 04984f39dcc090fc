"""From what a user types to a claim: eq5, 5, EQ05 and Eq. 5 are all eq05; 18-rms is eq18-rms."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from paper_checks.claims import Claim
from paper_checks.usage import UsageProblem

_NUMBERED = re.compile(r"(?:eq[. -]*)?(\d+)(-.+)?")


def normalize(typed: str) -> str:
    """The slug that `typed` stands for; equation numbers get two digits."""
    slug = typed.strip().lower().replace("_", "-")
    numbered = _NUMBERED.fullmatch(slug)
    return f"eq{int(numbered[1]):02d}{numbered[2] or ''}" if numbered else slug


def find(typed: str, claims: Sequence[Claim]) -> Claim:
    """The claim named by `typed`.

    Raises:
        UsageProblem: no claim has that name (the nearest is suggested), or the claims of two papers have it.
    """
    slug = normalize(typed)
    found = [claim for claim in claims if claim.slug == slug]
    if len(found) == 1:
        return found[0]
    if found:
        papers = ", ".join(claim.paper for claim in found)
        raise UsageProblem("SLUG", typed, f"one paper's claim: {papers} each have it, choose with --paper")
    near = difflib.get_close_matches(slug, [claim.slug for claim in claims], n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]}?" if near else ""
    raise UsageProblem("SLUG", typed, f"a claim of `paper-checks list`{hint}")
