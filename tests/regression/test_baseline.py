"""Baseline files: what is written is read again, and what was edited is noticed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from warplens.core.cubin import SourceLine
from warplens.errors import UsageError
from warplens.regression.baseline import baseline_text, read_baseline
from warplens.regression.kernel_record import KernelKey, KernelRecord, LineCounts

KEY = KernelKey("a/k.cu", "copy<float, 4>", "sm_90", "h200")
RECORD = KernelRecord(
    KEY, "c0de", "8 blocks of 32 threads", "1n", {"warplens": "0.1.0", "nvrtc": "13.0.88"},
    {"smsp__inst_executed.sum": 640, 'sass("BAR")': 0, "x.pct": 62.5, "big": 1 << 60},
    (LineCounts(SourceLine("a/k.cu", 3), 'printf("\\n\t\u2028é"); // \x7f', {"smsp__inst_executed.sum": 640}),),
)  # fmt: skip
OTHER = replace(RECORD, key=replace(KEY, name="other"), lines=())


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "b.toml"
    path.write_text(baseline_text([OTHER, RECORD]), encoding="utf-8")
    return path


def test_what_is_written_is_read_again(written: Path) -> None:
    found = read_baseline(written, "b.toml")
    assert dict(found.records) == {KEY: RECORD, OTHER.key: OTHER}
    assert baseline_text(found.records.values()) == baseline_text([RECORD, OTHER]), "whatever the order"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"smsp__inst_executed.sum" = 640', '"smsp__inst_executed.sum" = 1640'), ("c0de", "c1de"),
        ("8 blocks", "9 blocks"), ("13.0.88", "13.1.0"), ("a/k.cu:3", "a/k.cu:4"), (", 640]", ", 641]"),
        ("62.5", '"many"'), ("checksum = ", "check = "), ("a/k.cu:3", "a/k.cu:x"),
    ],
)  # fmt: skip
def test_an_entry_edited_by_hand_is_damaged_and_the_others_stand(written: Path, old: str, new: str) -> None:
    text = written.read_text(encoding="utf-8")
    assert old in text
    written.write_text(text.replace(old, new, 1), encoding="utf-8")
    found = read_baseline(written, "b.toml")
    assert list(found.records) == [OTHER.key]
    assert "b.toml:5: the baseline's entry was edited or is damaged" in found.damaged[KEY]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "the baseline has format None"), ("version = 2", "the baseline has format 2"),
        ("<<<<<<< ours", "the baseline is damaged"), ("version = 1\n[[kernels]]\nx = 1", "names no kernel"),
        ("version = 1\nkernels = 3", "kernels is no list of tables"), ("version = 1\nkernels = [3]", "names no kernel"),
        (b"\xff\xfe", "the baseline is damaged"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_says_what_to_do(tmp_path: Path, content: str | bytes, says: str) -> None:
    path = tmp_path / "b.toml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UsageError) as refusal:
        read_baseline(path, "b.toml")
    assert says in str(refusal.value)
    assert "warplens check --save" in str(refusal.value)


def test_an_entry_that_stands_twice(written: Path) -> None:
    both = written.read_text(encoding="utf-8")
    table = both[both.index("[[kernels]]") :].split("[[kernels]]")[1]
    written.write_text(f"{both}\n[[kernels]]{table}", encoding="utf-8")
    found = read_baseline(written, "b.toml")
    assert "two entries of a/k.cu:copy<float, 4>" in found.damaged[KEY]
    assert list(found.records) == [OTHER.key]
