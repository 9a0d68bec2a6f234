"""Prints the table of docs/rules.md: every rule, read from its file."""

from __future__ import annotations

import inspect
from importlib import import_module

from warplens.rules import Rule, WholeProgramRule, program_rules, rules

NSIGHT = "Nsight Compute: "


def main() -> None:
    print("| Rule | Fault | Weight from | Fires on | Silent on | Instead | Nsight Compute |")
    print("|---|---|--:|---|---|---|---|")
    for rule in (*rules(), *program_rules()):
        fault, instead, nsight = described(rule)
        cells = (f"`{rule.fault}`", fault, f"{100 * rule.threshold:.0f} %", rule.fires, rule.silent, instead, nsight)
        print(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")


def described(rule: Rule | WholeProgramRule) -> tuple[str, str, str]:
    """What the fault is, what to write instead, and Nsight Compute's rule, "" for none: from the file's docstring."""
    paragraphs = (inspect.getdoc(import_module(rule.check.__module__)) or "").split("\n\n")
    first, *rest = (" ".join(paragraph.split()) for paragraph in paragraphs)
    instead, _, nsight = " ".join(rest).partition(NSIGHT)
    return first.partition(": ")[2].rstrip("."), instead.strip(), nsight.rstrip(".")


if __name__ == "__main__":
    main()
