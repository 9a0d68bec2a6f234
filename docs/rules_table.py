"""Prints the table of docs/rules.md: every rule, read from its file."""

from __future__ import annotations

from warplens.rules import described, program_rules, rules


def main() -> None:
    print("| Rule | Fault | Weight from | Fires on | Silent on | Instead | Nsight Compute |")
    print("|---|---|--:|---|---|---|---|")
    for rule in (*rules(), *program_rules()):
        fault, instead, nsight = described(rule.check)
        cells = (f"`{rule.fault}`", fault, f"{100 * rule.threshold:.0f} %", rule.fires, rule.silent, instead, nsight)
        print(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")


if __name__ == "__main__":
    main()
