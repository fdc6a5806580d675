#!/usr/bin/env python3
"""Rolls dice written as `2d6+3`. Knows the notation and its limits, nothing about any game."""

import random
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))
from toolprotocol import INTEGER_MAX, Refusal, emit, integer, serve, text  # noqa: E402

EXPRESSION_CHARS_MAX = 200
TERMS_MAX = 20
DICE_PER_TERM_MAX = 100
SIDES_MAX = 1000
NUMBER_MAX = 1_000_000

TERM = re.compile(r"([+-]?)(?:([0-9]*)d([0-9]+)|([0-9]+))", re.ASCII)


def roll(request):
    expression = normalise(text(request["input"], "expression", EXPRESSION_CHARS_MAX))
    seed = integer(request["input"], "seed", -INTEGER_MAX, INTEGER_MAX, default=None)
    # Seeding with text keeps 1 and -1 apart; an integer seed is taken by its absolute value.
    dice = random.SystemRandom() if seed is None else random.Random(str(seed))

    terms, modifier = parse(expression)
    thrown = [
        {"dice": name, "rolls": [sign * dice.randint(1, sides) for _ in range(count)]}
        for name, sign, count, sides in terms
    ]
    rolls = [value for term in thrown for value in term["rolls"]]
    output = {"expression": expression, "rolls": rolls, "modifier": modifier, "total": sum(rolls) + modifier}
    emit("ui_event", event="dice_rolled", payload={**output, "terms": thrown})
    return output, f"{expression} = {output['total']}"


def normalise(expression):
    # Space is fine around a sign only: elsewhere `2d6 3` would silently become `2d63`.
    return re.sub(r"\s*([+-])\s*", r"\1", expression.lower())


def parse(expression):
    """Returns the dice as `(name, sign, count, sides)` and the sum of the plain numbers."""
    terms, modifier, position, found = [], 0, 0, 0
    while position < len(expression):
        match = TERM.match(expression, position)
        if match is None or (position > 0 and not match[1]):
            rest = expression[position:]
            raise refusal(f"cannot read `{rest}` in `{expression}`; write for example 2d6+3, d20, 2d6+1d4-1")
        sign = -1 if match[1] == "-" else 1
        if match[4] is None:
            count, sides = int(match[2] or "1"), int(match[3])
            check_dice(match[0].lstrip("+-"), count, sides)
            terms.append((match[0].lstrip("+"), sign, count, sides))
        else:
            modifier += sign * int(match[4])
        position = match.end()
        found += 1
    if found > TERMS_MAX:
        raise refusal(f"`{expression}` has {found} terms; at most {TERMS_MAX} are rolled")
    if abs(modifier) > NUMBER_MAX:
        raise refusal(f"the plain numbers add up to {modifier}; at most {NUMBER_MAX} either way is possible")
    if not terms:
        raise refusal(f"`{expression}` has no dice; write for example 2d6+3")
    return terms, modifier


def check_dice(name, count, sides):
    if not 1 <= count <= DICE_PER_TERM_MAX:
        raise refusal(f"`{name}` rolls {count} dice; 1 to {DICE_PER_TERM_MAX} are possible")
    if not 2 <= sides <= SIDES_MAX:
        raise refusal(f"`{name}` has {sides} sides; 2 to {SIDES_MAX} are possible")


def refusal(message):
    return Refusal("invalid_expression", message)


serve(roll)
