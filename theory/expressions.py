"""Formulas as people type them, read by an allow-list: nothing that is not named here is understood, nothing is run.

    expression := term (("+" | "-") term)*            power := atom ["**" unary]
    term       := unary (("*" | "/") unary)*          atom  := number | name | name[index] | "(" expression ")"
    unary      := ("+" | "-") unary | power                  | function(expression, ...) | sum(index, expression)

A `Vocabulary` (`theory.syntax`) says which names, indexed names, functions and free indices there are. `sum` binds its
index inside its body alone: an inner index hides an outer one of the same name, and an index that is not used is
counted all the same. Numbers are read exactly, 0.1 as 1/10. What the reader gives is a tree of `Node`s;
`theory.limits` has refused those that would exhaust time or memory, before anything is computed.

Every refusal is an `ExpressionError` that carries the position, counted in characters from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from theory.limits import check_size
from theory.syntax import Add, Call, Entry, ExpressionError, Mul, Name, Node, Number, Power, Total, Vocabulary

LONGEST = 4000
DEEPEST = 40
MOST_DIGITS = 40
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)"
    r"|(?P<mark>\*\*|[-+*/()\[\],])"
)
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    at: int


def parse(text: str, vocabulary: Vocabulary) -> Node:
    """The tree of a formula.

    Raises:
        ExpressionError: it is not a formula in this vocabulary, or is built to exhaust time or memory.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"a formula has at most {LONGEST} characters; this has {len(text)}", LONGEST + 1)
    reader = _Reader(list(_tokens(text)), vocabulary)
    node = reader.expression(())
    if reader.next.kind != "end":
        message = f"{reader.next.text!r} where the formula should end or go on with + - * / **"
        raise ExpressionError(message, reader.next.at)
    check_size(node)
    return node


def _tokens(text: str) -> Iterator[_Token]:
    place = _SPACE.match(text).end()
    while place < len(text):
        found = _TOKEN.match(text, place)
        if found is None:
            yield _Token("unknown", text[place], place + 1)
            return
        yield _Token(found.lastgroup or "", found.group(), place + 1)
        place = _SPACE.match(text, found.end()).end()
    yield _Token("end", "the end", len(text) + 1)


class _Reader:
    """Recursive descent over the tokens; `scope` is the tuple of bound indices, the innermost last."""

    def __init__(self, tokens: list[_Token], vocabulary: Vocabulary) -> None:
        self.tokens, self.vocabulary = tokens, vocabulary
        self.place = self.depth = 0

    @property
    def next(self) -> _Token:
        token = self.tokens[self.place]
        if token.kind == "unknown":
            hint = "; a power is written **" if token.text == "^" else ""
            raise ExpressionError(f"{token.text!r} is not part of a formula{hint}", token.at)
        return token

    def take(self, *accepted: str) -> _Token | None:
        token = self.next
        if token.kind == "mark" and token.text in accepted:
            self.place += 1
            return token
        return None

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            raise ExpressionError(f"{self.next.text!r} where {mark!r} should be", self.next.at)

    def expression(self, scope: tuple[str, ...]) -> Node:
        at = self.next.at
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested more than {DEEPEST} deep", at)
        terms = [(False, self.term(scope))]
        while sign := self.take("+", "-"):
            terms.append((sign.text == "-", self.term(scope)))
        self.depth -= 1
        return terms[0][1] if len(terms) == 1 else Add(at, tuple(terms))

    def term(self, scope: tuple[str, ...]) -> Node:
        at = self.next.at
        factors = [(False, self.unary(scope))]
        while sign := self.take("*", "/"):
            factors.append((sign.text == "/", self.unary(scope)))
        return factors[0][1] if len(factors) == 1 else Mul(at, tuple(factors))

    def unary(self, scope: tuple[str, ...]) -> Node:
        at, negative = self.next.at, False
        while sign := self.take("+", "-"):
            negative ^= sign.text == "-"
        node = self.power(scope)
        return Add(at, ((True, node),)) if negative else node

    def power(self, scope: tuple[str, ...]) -> Node:
        at = self.next.at
        base = self.atom(scope)
        if not self.take("**"):
            return base
        self.depth += 1
        if self.depth > DEEPEST:
            raise ExpressionError(f"nested more than {DEEPEST} deep", at)
        exponent = self.unary(scope)
        self.depth -= 1
        return Power(at, base, exponent)

    def atom(self, scope: tuple[str, ...]) -> Node:
        token = self.next
        if self.take("("):
            node = self.expression(scope)
            self.expect(")")
            return node
        if token.kind == "number":
            self.place += 1
            return Number(token.at, _number(token))
        if token.kind != "name":
            raise ExpressionError(f"{token.text!r} where a number, a name or '(' should be", token.at)
        self.place += 1
        if self.take("("):
            return self.call(token, scope)
        if self.take("["):
            return self.entry(token, scope)
        if token.text in self.vocabulary.names:
            return Name(token.at, token.text)
        raise ExpressionError(self.unknown(token, scope), token.at)

    def unknown(self, token: _Token, scope: tuple[str, ...]) -> str:
        name = token.text
        if name in scope or name in self.vocabulary.indices:
            return f"{name!r} is an index, not a number"
        if name in self.vocabulary.indexed:
            return f"{name!r} needs an index: {name}[{(*self.vocabulary.indices, 'i')[0]}]"
        if name in self.vocabulary.functions or (name == "sum" and self.vocabulary.sums):
            return f"{name!r} is a function: {name}(...)"
        return f"{_short(name)} is not known here; accepted: {self.vocabulary.words()}"

    def entry(self, token: _Token, scope: tuple[str, ...]) -> Node:
        if token.text not in self.vocabulary.indexed:
            if token.text in self.vocabulary.names:
                raise ExpressionError(f"{token.text!r} has no index", token.at)
            raise ExpressionError(self.unknown(token, scope), token.at)
        index = self.index(scope)
        self.expect("]")
        return Entry(token.at, token.text, index)

    def index(self, scope: tuple[str, ...]) -> str:
        token = self.next
        known = tuple(dict.fromkeys((*self.vocabulary.indices, *scope)))
        if token.kind != "name" or token.text not in known:
            raise ExpressionError(f"{_short(token.text)} where an index should be: {' or '.join(known)}", token.at)
        self.place += 1
        return token.text

    def call(self, token: _Token, scope: tuple[str, ...]) -> Node:
        name = token.text
        if name == "sum" and self.vocabulary.sums:
            index = self.next
            if index.kind != "name" or index.text in self.vocabulary.names | self.vocabulary.indexed:
                message = f"{_short(index.text)} where the index of the sum should be: sum(k, ...)"
                raise ExpressionError(message, index.at)
            self.place += 1
            self.expect(",")
            body = self.expression((*scope, index.text))
            self.expect(")")
            return Total(token.at, index.text, body)
        if name == "delta" and self.vocabulary.delta:
            first = self.index(scope)
            self.expect(",")
            second = self.index(scope)
            self.expect(")")
            return Call(token.at, name, (first, second))
        if name not in self.vocabulary.functions:
            known = name in self.vocabulary.names | self.vocabulary.indexed
            message = f"{name!r} is not a function; a product is written *" if known else self.unknown(token, scope)
            raise ExpressionError(message, token.at)
        arguments = [self.expression(scope)]
        while self.take(","):
            arguments.append(self.expression(scope))
        self.expect(")")
        fewest, most = self.vocabulary.functions[name]
        if not fewest <= len(arguments) <= most:
            accepted = str(fewest) if fewest == most else f"{fewest} to {most}"
            raise ExpressionError(f"{name} takes {accepted} argument(s), not {len(arguments)}", token.at)
        return Call(token.at, name, tuple(arguments))


def _number(token: _Token) -> Fraction:
    digits = sum(character.isdigit() for character in token.text)
    exponent = re.split("[eE]", token.text)[1:]
    if digits > MOST_DIGITS or any(abs(int(power)) > MOST_DIGITS for power in exponent):
        message = f"a number has at most {MOST_DIGITS} digits and a power of ten up to {MOST_DIGITS}"
        raise ExpressionError(message, token.at)
    return Fraction(token.text)


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
