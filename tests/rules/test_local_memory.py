"""Local memory: spilled registers, and an array that is indexed by a variable."""

from __future__ import annotations

from rules.example_kernels import counted
from warplens.rules.memory.local_memory import LocalMemoryEvidence, local_memory


def test_spills_name_no_array() -> None:
    found = local_memory(counted("resources/5_capped"))
    assert found is not None
    assert isinstance(found.evidence, LocalMemoryEvidence)
    assert found.evidence.array == ""
    assert 0 < found.evidence.share < 1


def test_an_indexed_array_is_named_with_its_line() -> None:
    subject = counted("rules.cu/table_by_variable")
    found = local_memory(subject)
    assert found is not None
    assert isinstance(found.evidence, LocalMemoryEvidence)
    assert found.evidence.array == "a"
    (text,) = subject.sources.values()
    assert "a[(k[j] + threadIdx.x) & 63]" in text.split("\n")[found.evidence.indexed_at - 1]
