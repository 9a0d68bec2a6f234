"""Description: one line of plain English for an instruction, from the operation that the executor runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from warplens.core.program import Address, Constant, Immediate, Instruction, Label, Operand, Register, Special
from warplens.isa.dsl.decode import Binding, bind, register_count
from warplens.isa.dsl.english_emitter import UNARY, Phrase, PhraseEmitter, integer, negative, of_number, of_word
from warplens.isa.dsl.half_pair import H2
from warplens.isa.dsl.lanes import U32, Float, Lanes, Pred
from warplens.isa.dsl.op import Op
from warplens.isa.dsl.warp_interface import Addend

NameOf = Callable[[Constant], str | None]
WIDTH = 100
EMITTER = PhraseEmitter()
SIZES = {"U8": "1 byte", "S8": "1 signed byte", "U16": "2 bytes", "S16": "2 signed bytes", "64": "8 bytes",
         "128": "16 bytes", "256": "32 bytes"}  # fmt: skip
SPECIAL = {
    "SR_LANEID": "the lane's number",
    "SRZ": "0",
    "SR_CLOCKLO": "the clock",
    "SR_SMEMSZ": "shared memory's size",
}
SPECIAL |= {f"SR_TID.{axis}": f"threadIdx.{axis.lower()}" for axis in "XYZ"}
SPECIAL |= {f"SR_CTAID.{axis}": f"blockIdx.{axis.lower()}" for axis in "XYZ"}
LEFT_OUT = (("target", "mask", "the warp"), ("p", "threads", ""))
"""(operand without text, the one in its place, what that is then): BRA.DIV 0x320, BAR.RED.AND 0x0,P0."""


def explain(instruction: Instruction, name_of: NameOf = lambda constant: None) -> str:
    """What the instruction does, in at most 100 characters; `name_of` gives parameters their names.

    An instruction without a meaning, or one whose words would be longer, reads as it is printed.
    """
    binding = bind(instruction)
    line = "" if binding is None else _Reader(instruction, binding, name_of).line()
    if not line or len(line) > WIDTH - 16:  # room for the guard
        line = f"{instruction.opcode} {instruction.text}".strip()
    guard = instruction.guard
    if guard is None:
        return _cut(line)
    always = guard.index < 0
    if always:
        return _cut(f"never: {line}" if guard.invert else line)
    return _cut(f"{'unless' if guard.invert else 'if'} {guard.file}{guard.index}: {line}")


def _cut(line: str) -> str:
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"


class _Choice:
    """A modifier in a template: `{HI:high|low}` for a flag, `{way:L=left|R=right}` for a choice."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self.value)
        options = spec.split("|")
        if "=" in spec:
            return next((o.partition("=")[2] for o in options if o.partition("=")[0] == self.value), "")
        return options[0] if self.value else options[1]


class _Reader:
    """One instruction and its operands as text."""

    def __init__(self, instruction: Instruction, binding: Binding, name_of: NameOf) -> None:
        self.instruction = instruction
        self.op: Op = binding.op
        self.binding = binding
        self.name_of = name_of

    def line(self) -> str:
        constant = self._moved_constant()
        if constant is not None:
            return f"{self._targets()[0]} = {constant.text}"
        return self._from_template() if self.op.text or self.op.takes_warp else self._from_body()

    def _moved_constant(self) -> Phrase | None:
        """Half-precision arithmetic with zero is the compiler's way to load a constant."""
        operands = [operand for _, operand in self.binding.sources]
        zero = Register("R", -1)
        plain = [replace(o, negate=False) if isinstance(o, Register) else o for o in operands]
        if self.op.name.startswith("HFMA2") and plain[:2] == [zero, zero] and isinstance(plain[2], Immediate):
            return of_word(plain[2].bits)
        return None

    # From the operation

    def _from_body(self) -> str:
        values = [self._value(s.kind, s.default, o) for s, o in self.binding.sources]
        outcome = self.op.body(*values, **self.binding.modifiers)
        phrases = [r.node for r in (outcome if isinstance(outcome, tuple) else (outcome,))]
        parts, notes = [], []
        for target, phrase in zip(self._targets(), phrases, strict=True):
            if target:
                parts.append(f"{target} = {phrase.text}")
                notes += [note for note in phrase.notes if note not in notes]
        signs = "".join(f" ({n})" for n in notes if n in ("signed", "unsigned"))
        rest = "".join(f", {n}" for n in notes if n not in ("signed", "unsigned"))
        return ", ".join(parts) + signs + rest

    def _value(self, kind: Any, default: Any, operand: Operand | None) -> Any:
        if operand is None:
            return _lanes(kind, of_number(kind, default)) if issubclass(kind, Lanes) else default
        if kind is int:
            return operand.bits if isinstance(operand, Immediate) else 0
        phrase = self._phrase(kind, operand)
        if kind is Addend:
            return Addend(U32(EMITTER, phrase))
        return _lanes(kind, phrase)

    def _phrase(self, kind: Any, operand: Operand) -> Phrase:
        """The operand as this type."""
        kind = kind if isinstance(kind, type) else U32  # a union: the operation reads the operand itself
        if isinstance(operand, Immediate):
            return self._immediate(kind, operand)
        phrase = self._plain(operand, register_count(kind, self.instruction), kind)
        if not isinstance(operand, Register | Constant):
            return phrase
        if operand.part not in ("", "H1_H0") and phrase.value is None:
            phrase = replace(phrase, text=f"{phrase.text}.{operand.part}")
        if operand.absolute:
            phrase = Phrase(f"|{phrase.text}|")
        if operand.negate:
            phrase = negative(phrase)
        if operand.invert:
            value = kind if issubclass(kind, Lanes) else U32
            phrase = EMITTER.do("not", value, _lanes(value, phrase))
        return phrase

    def _immediate(self, kind: Any, operand: Immediate) -> Phrase:
        if issubclass(kind, Float) and operand.real is not None:
            text = operand.real.strip().lower()
            number = float("nan") if "nan" in text else float(text)
            return of_number(kind, number)
        if kind is H2:
            return Phrase(operand.real or hex(operand.bits))
        return of_number(kind if issubclass(kind, Lanes) else U32, operand.bits)

    def _plain(self, operand: Operand, words: int, kind: Any) -> Phrase:
        if isinstance(operand, Register):
            if operand.index >= 0:
                return Phrase(_run(operand, words))
            return of_number(kind if issubclass(kind, Lanes) else U32, operand.file in ("P", "UP"))
        if isinstance(operand, Constant):
            return Phrase(self._constant(operand))
        if isinstance(operand, Address):
            return Phrase(self._address(operand))
        if isinstance(operand, Label):
            return Phrase(operand.name or f"{operand.offset:#06x}")
        assert isinstance(operand, Special), operand
        return Phrase(SPECIAL.get(operand.name, operand.name))

    def _constant(self, constant: Constant) -> str:
        name = self.name_of(constant) if constant.index is None else None
        if name is not None:
            return name
        place = hex(constant.offset)
        if constant.index is not None and constant.index.index >= 0:
            place = f"{_run(constant.index, 1)} + {place}" if constant.offset else _run(constant.index, 1)
        return f"c[{constant.bank}][{place}]"

    def _address(self, address: Address) -> str:
        parts = []
        if address.base is not None and address.base.index >= 0:
            base = _run(address.base, 2 if address.wide else 1)
            parts.append(f"{base} * {address.scale}" if address.scale > 1 else base)
        if address.uniform is not None and address.uniform.index >= 0:
            parts.append(_run(address.uniform, 2 if address.wide else 1))
        if address.offset or not parts:
            sign = "- " if address.offset < 0 and parts else ""
            parts.append(sign + integer(abs(address.offset) if parts else address.offset))
        return " + ".join(parts).replace("+ - ", "- ")

    # From the template

    def _from_template(self) -> str:
        grouped = dict(self.op.groups)
        words: dict[str, Any] = {
            name: value if name in grouped else _Choice(value) for name, value in self.binding.modifiers.items()
        }
        if "size" in words:
            words["size"] = SIZES.get(self.binding.modifiers["size"], "4 bytes")
        for source, operand in self.binding.sources:
            words[source.name] = self._word(source.kind, source.default, operand)
        for missing, stands_in, instead in LEFT_OUT:
            if words.get(missing) == "" and stands_in in words:
                words |= {missing: words[stands_in], stands_in: instead}
        words["target"] = words.get("target") or "this instruction"  # LEPC
        if branch := self._conditional_branch():
            return branch
        targets = self._targets()
        shown = [t for t in targets if t]
        words.setdefault("to", ", ".join(shown) if shown else "nothing")  # LDGSTS has a source of this name
        words |= {f"to{k}": t or "nothing" for k, t in enumerate(targets)}
        try:
            text = self.op.text.format_map(words)
        except (KeyError, IndexError, AttributeError):
            return ""  # a template that names what the operation does not have: printed as it is
        return text.replace("nothing = ", "", 1) + ", unused" if text.startswith("nothing = ") else text

    def _word(self, kind: Any, default: Any, operand: Operand | None) -> str:
        if operand is not None:
            return self._phrase(kind, operand).within(UNARY)
        return of_number(Pred if kind is Pred else U32, default).text if isinstance(default, int) else ""

    def _conditional_branch(self) -> str:
        """BRA P0, target: a condition in addition to the guard."""
        match [operand for _, operand in self.binding.sources]:
            case [Register(file="P" | "UP") as condition, Label() as target, *_] if not self.op.results:
                return f"go to {self._phrase(Label, target).text} if {self._phrase(Pred, condition).text}"
        return ""

    # Destinations

    def _targets(self) -> list[str]:
        """The destinations; an empty text for those that are thrown away."""
        texts = []
        for kind, target in zip(self.op.results, self.binding.targets, strict=True):
            shown = target is not None and target.index >= 0
            texts.append(_run(target, register_count(kind, self.instruction)) if target is not None and shown else "")
        return texts


def _lanes(kind: type[Lanes], phrase: Phrase) -> Lanes:
    return kind(EMITTER, phrase)


def _run(register: Register, words: int) -> str:
    """R2, R2:R3, R4..R7."""
    first = f"{register.file}{register.index}"
    if words == 1 or register.file not in ("R", "UR"):
        return first
    return f"{first}{':' if words == 2 else '..'}{register.file}{register.index + words - 1}"
