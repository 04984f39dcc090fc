"""Which claim rests on which: the lemmas that the proofs recorded while they were made, as a graph.

Nothing here is typed by hand. Every claim is decided, and `Proved.uses` says what each proof took from another claim.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable

import networkx as nx

from paper_checks import evidence, run
from paper_checks.claims import Claim
from paper_checks.evidence import Task


def build(claims: Iterable[Claim]) -> nx.DiGraph:
    """A graph of slugs with an edge from a claim to each claim whose lemma it uses, and the verdict at each node.

    A node's `verdict` is that of the symbolic evidence; an edge's `lemmas` are the names of the statements used.
    """
    claims = list(claims)
    slug_of = {Task(claim.paper, claim.slug, evidence.THEORY).module: claim.slug for claim in claims}
    graph = nx.DiGraph()
    for result in run.run(claims):
        graph.add_node(result.claim.slug, verdict=result.verdict.verdict)
    for module, slug in slug_of.items():
        for used in _uses(module):
            claim, _, statement = used.partition(": ")
            other = slug_of.get(f"{evidence.THEORY}.{claim}", claim)
            if other == slug:
                continue
            if not graph.has_edge(slug, other):
                graph.add_edge(slug, other, lemmas=[])
            if statement not in graph[slug][other]["lemmas"]:
                graph[slug][other]["lemmas"].append(statement)
    return graph


def mermaid(graph: nx.DiGraph, alone: bool = False) -> str:
    """The graph as Mermaid text, arrows from a claim to what it rests on; `alone` keeps claims without arrows."""
    shown = [slug for slug in graph if alone or graph.degree(slug)]
    name = {slug: f"n{number}" for number, slug in enumerate(shown)}
    lines = ["graph LR"]
    lines += [f'  {name[slug]}["{slug}: {graph.nodes[slug].get("verdict", "OPEN")}"]' for slug in shown]
    for slug, other, data in graph.edges(data=True):
        lines.append(f'  {name[slug]} -->|"{", ".join(data["lemmas"])}"| {name[other]}')
    return "\n".join(lines) + "\n"


def _uses(module: str) -> list[str]:
    if not evidence.exists(module):
        return []
    outcomes = (statement.decide() for statement in importlib.import_module(module).STATEMENTS)
    return list(dict.fromkeys(name for outcome in outcomes for name in getattr(outcome, "uses", ())))
