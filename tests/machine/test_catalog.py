"""The descriptions of GPUs: complete, plausible, and found by the names that people use."""

from __future__ import annotations

import copy
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import warplens.machine
from warplens.errors import Unpredictable, UsageError
from warplens.machine import Machine, catalog, choose, detect, machine, machines
from warplens.machine.fields import PARAMETER_TABLES
from warplens.machine.link_time import link_of
from warplens.machine.parameter import KINDS, Description
from warplens.machine.schema import limits_from, machine_from

FOLDER = Path(warplens.machine.__file__).parent
ARCH_OF = {
    "t4": "sm_75", "a100": "sm_80", "a10": "sm_86", "rtx3080": "sm_86", "rtx3090": "sm_86",
    "l4": "sm_89", "l40s": "sm_89", "rtx4090": "sm_89", "h100": "sm_90", "h200": "sm_90",
    "b200": "sm_100", "rtx5090": "sm_120", "textbook": "sm_75",
}  # fmt: skip


def tables(path: str) -> dict[str, Any]:
    found = tomllib.loads((FOLDER / path).read_text())
    found.pop("host_link", None)  # read apart from the rest, as [channels]
    return found


def h200_of(own: dict[str, Any], arch: dict[str, Any] | None = None) -> Machine:
    """The H200 with this file of its own, and that of its architecture."""
    arch = arch or tables("arch/sm_90.toml")
    described = Description("h200.toml", own), Description("sm_90.toml", arch)
    return machine_from("h200", limits_from(arch, "sm_90.toml"), described)


def test_every_gpu_is_described() -> None:
    assert {name: machine(name).arch for name in machines()} == ARCH_OF


def test_the_h200_is_what_its_driver_says() -> None:
    """cuDeviceGetAttribute on an NVIDIA H200, driver 580, read by Nsight Compute 2025.3.1."""
    h200 = machine("h200")
    limits = h200.limits
    assert (h200.multiprocessors, h200.boost_megahertz, h200.l2_bytes) == (132, 1980, 62_914_560)
    assert (limits.threads_per_multiprocessor, limits.blocks_per_multiprocessor) == (2048, 32)
    assert (limits.registers_per_block, limits.registers_per_multiprocessor) == (65_536, 65_536)
    assert limits.largest_carveout_bytes == 233_472
    assert (limits.shared_bytes_per_block_default, limits.shared_bytes_per_block_optin) == (49_152, 232_448)
    assert limits.shared_bytes_reserved_per_block == 1024
    assert limits.block_dimensions == (1024, 1024, 64)


def test_the_link_to_the_host() -> None:
    """As measured with 1 GiB on 2026-11-21; and of a GPU of which it is not known."""
    link = link_of(machine("h200"))
    rows = (FOLDER.parents[2] / "measurements/h200/host_link.csv").read_text().splitlines()
    (median,) = (float(row.split(",")[4]) for row in rows if row.startswith("host to device pinned,1073741824,"))
    assert link.copy_us + 2**30 / link.to_device_megabytes_per_second == pytest.approx(median, rel=0.005)
    staged = [float(row.split(",")[4]) for row in rows if row.startswith("host to device pageable,")]
    assert [ns / 1000 for ns in link.pageable_to_device_nanoseconds] == staged
    rows = (FOLDER.parents[2] / "measurements/h100/host_link.csv").read_text().splitlines()
    for size, ns in zip((4096, *link.pageable_bytes[1:]), link.pageable_to_host_nanoseconds, strict=True):
        (median,) = (row.split(",")[4] for row in rows if row.startswith(f"device to host pageable,{size},"))
        assert ns / 1000 == float(median)
    with pytest.raises(Unpredictable, match="T4 to its host is not described"):
        link_of(machine("t4"))


def test_every_number_has_a_source() -> None:
    for name in machines():
        sources = machine(name).sources
        limits = {"threads", "launch", "registers", "shared", "barriers", "rates"}
        assert set(sources) >= {"gpu", "memory"} | {f"arch.{table}" for table in limits}
        assert all(sources.values())
        assert {p.kind for p in machine(name).parameters} <= set(KINDS)
        assert all(p.unit and p.source.partition(": ")[2] for p in machine(name).parameters)


PUBLICATION = re.compile(
    r"CUDA C\+\+ Programming Guide|white paper|arXiv \d{4}\.\d{5}|RRZE gpu-benches|Chips and Cheese|github\.com/"
)


@pytest.mark.parametrize("name", machines())
def test_what_was_published_names_the_publication(name: str) -> None:
    published = [p for p in machine(name).parameters if p.kind == "published"]
    assert [p.name for p in published if not PUBLICATION.search(p.source)] == []


def test_what_is_inherited_is_not_repeated() -> None:
    """A description that lacks a number takes that of the H200, and says so."""
    h200, l4 = machine("h200"), machine("l4")
    assert h200.inherited == ()
    values = {p.name: p.value for p in h200.parameters}
    assert "latency_cycles.barrier" in {p.name for p in l4.inherited}
    assert all(p.declared == "h200.toml" and p.value == values[p.name] for p in l4.inherited)
    assert {p.declared for p in l4.parameters} == {"l4.toml", "sm_89.toml", "h200.toml"}


@pytest.mark.parametrize("name", ["h200", "H200", "NVIDIA H200", "h-200", "Nvidia h_200"])
def test_names_are_taken_as_people_write_them(name: str) -> None:
    assert machine(name) is machine("h200")


def test_the_makers_words_do_not_matter() -> None:
    assert machine("NVIDIA GeForce RTX 4090").key == "rtx4090"
    assert machine("Tesla T4").key == "t4"


def test_an_unknown_name_lists_the_known_ones_and_says_how_to_add_one() -> None:
    with pytest.raises(UsageError) as refusal:
        machine("GTX 1080")
    assert all(name in str(refusal.value) for name in machines())
    assert "one TOML file" in str(refusal.value)
    assert "gtx1080.toml" in str(refusal.value)
    assert "did you mean" not in str(refusal.value)


def test_a_misspelt_name_has_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean h200"):
        machine("h2000")


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("gpu", "multiprocessors", 0),
        ("gpu", "multiprocessors", "132"),
        ("gpu", "multiprocessors", True),
        ("gpu", "boost_megahertz", 1_980_000),
        ("gpu", "device_names", [""]),
        ("gpu", "source", ""),
        ("memory", "l2_bytes", 60),
        ("memory", "dram_gigabytes_per_second", None),
    ],
)
def test_an_absurd_value_is_refused_with_table_and_key(table: str, key: str, value: object) -> None:
    wrong = tables("h200.toml")
    wrong[table][key] = value
    with pytest.raises(UsageError, match=rf"h200.toml: \[{table}\] {key}"):
        h200_of(wrong)


def test_every_missing_limit_is_refused_with_table_and_key() -> None:
    whole = tables("arch/sm_90.toml")
    for table in whole.keys() - PARAMETER_TABLES:
        for key in whole[table]:
            holed = copy.deepcopy(whole)
            del holed[table][key]
            with pytest.raises(UsageError, match=rf"sm_90.toml: \[{table}\] {key} is missing"):
                h200_of(tables("h200.toml"), holed)


def test_every_missing_parameter_is_refused_with_table_and_key() -> None:
    whole, arch = tables("h200.toml"), tables("arch/sm_90.toml")
    arch = {table: content for table, content in arch.items() if table not in PARAMETER_TABLES}
    for table in PARAMETER_TABLES:
        for key in whole[table].keys() - {"source", "sources"}:
            holed = copy.deepcopy(whole)
            del holed[table][key]
            with pytest.raises(UsageError, match=rf"\[{table}\] {key} is missing"):
                h200_of(holed, arch)


def test_a_parameter_without_a_kind_is_refused() -> None:
    wrong = tables("h200.toml")
    wrong["clocks"]["source"] = "a guess"
    with pytest.raises(UsageError, match=r"h200.toml: \[clocks\] matrix_megahertz: its source must begin with"):
        h200_of(wrong)


@pytest.mark.parametrize(("value", "file"), [(0, "h200.toml"), ("fast", "h200.toml"), (True, "h200.toml")])
def test_an_absurd_speed_is_refused_with_table_and_key(value: object, file: str) -> None:
    wrong = tables("h200.toml")
    wrong["latency_cycles"]["dram"] = value
    with pytest.raises(UsageError, match=rf"{file}: \[latency_cycles\] dram must be a number"):
        h200_of(wrong)


def test_a_gpus_own_speed_wins_over_the_architectures() -> None:
    own, shared = tables("h200.toml"), tables("arch/sm_90.toml")
    own["latency_cycles"]["dram"] = 777
    del own["latency_cycles"]["l2"]
    described = h200_of(own, shared)
    assert described.speeds.latency_dram == 777
    assert described.speeds.latency_l2 == shared["latency_cycles"]["l2"]


def test_a_source_of_a_key_that_is_none_is_refused() -> None:
    shared = tables("arch/sm_90.toml")
    shared["l2_rates"]["sources"]["queues"] = "assumed: a slip"
    with pytest.raises(UsageError, match=r"sm_90.toml: \[l2_rates\] queues is no key"):
        h200_of(tables("h200.toml"), shared)


@pytest.mark.parametrize(
    ("table", "key", "value"),
    [
        ("shared", "shared_bytes_per_multiprocessor", [32_768, 8_192]),
        ("shared", "shared_bytes_per_block_optin", 233_473),
        ("threads", "threads_per_multiprocessor", 1536),
        ("launch", "grid_dimensions", [1, 1]),
        ("barriers", "barriers_limit_occupancy", 1),
    ],
)
def test_limits_that_contradict_each_other_are_refused(table: str, key: str, value: object) -> None:
    wrong = tables("arch/sm_90.toml")
    wrong[table][key] = value
    with pytest.raises(UsageError, match=rf"\[{table}\] {key} must"):
        limits_from(wrong, "sm_90.toml")


def test_a_misspelt_key_is_refused() -> None:
    wrong = tables("h200.toml")
    wrong["memory"]["l2_size"] = 1
    with pytest.raises(UsageError, match=r"\[memory\] l2_size is no key"):
        h200_of(wrong)


def test_the_flag_goes_before_the_variable_before_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    module = sys.modules["warplens.machine.gpu_choice"]
    monkeypatch.setattr(module, "detect", lambda: "l4")
    wished = {"WARPLENS_GPU": "a100"}
    assert choose("T4", wished) == (machine("t4"), "--gpu")
    assert choose(None, wished) == (machine("a100"), "WARPLENS_GPU")
    assert choose(None, {}) == (machine("l4"), "this machine")
    monkeypatch.setattr(module, "detect", lambda: None)
    assert choose(None, {}) == (machine("h200"), "default")


def test_a_wrong_name_in_the_variable_is_refused() -> None:
    with pytest.raises(UsageError, match="gtx1080"):
        choose(None, {"WARPLENS_GPU": "gtx1080"})


def test_a_device_is_known_by_name_and_multiprocessors() -> None:
    from warplens.machine.local_gpu import known

    assert known("NVIDIA H200", 132) == "h200"
    assert known("NVIDIA H200", 16) is None
    assert known("NVIDIA GeForce RTX 3080 Ti", 80) is None
    assert known("NVIDIA GeForce RTX 3080", 70) is None


def test_without_a_driver_the_bindings_are_not_even_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_library(name: str) -> None:
        raise OSError(f"{name}: cannot open shared object file")

    def imported() -> None:
        pytest.fail("asked the driver although there is none")

    module = sys.modules["warplens.machine.local_gpu"]
    monkeypatch.setattr("ctypes.CDLL", no_library)
    monkeypatch.setattr(module, "_first_device", imported)
    assert detect() is None


def test_a_description_is_read_in_ten_milliseconds() -> None:
    """Of processor time, without the imports; the best of five processes, because the machine may be busy."""
    code = (
        "import time; from warplens.machine import machine; start = time.process_time();"
        "machine('h200'); print(time.process_time() - start)"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(5)]
    assert min(float(run.stdout) for run in runs) < 0.010


def test_the_folder_is_the_list() -> None:
    assert machines() == tuple(sorted(path.stem for path in catalog.FOLDER.glob("*.toml")))


def test_a_gpu_overrides_the_limits_of_its_architecture_key_by_key() -> None:
    textbook, turing = machine("textbook").limits, machine("t4").limits
    assert (textbook.threads_per_multiprocessor, turing.threads_per_multiprocessor) == (1536, 1024)
    assert textbook.threads_per_block == turing.threads_per_block
    assert "Kirk and Hwu" in machine("textbook").sources["arch.threads"]
    assert "Kirk and Hwu" not in machine("textbook").sources["arch.launch"]


def test_an_absurd_key_that_overrides_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in FOLDER.rglob("*.toml"):
        (tmp_path / at.relative_to(FOLDER)).parent.mkdir(exist_ok=True)
        (tmp_path / at.relative_to(FOLDER)).write_text(at.read_text())
    own = tmp_path / "textbook.toml"
    monkeypatch.setattr(catalog, "FOLDER", tmp_path)
    for wrong, right, message in (
        ("blocks_per_multiprocessor = 8", "blocks_per_multiprocessor = 0", r"\[threads\] blocks_per_multiprocessor"),
        ("burst_bytes = 8", "burst_bytes = 0", r"\[channels\] burst_bytes must"),
        ("burst_bytes = 8", "", r"\[channels\] burst_bytes is missing"),
        ("burst_bytes = 8", "burst_size = 8", r"\[channels\] burst_size is no key"),
    ):
        text = (FOLDER / "textbook.toml").read_text()
        own.write_text(text.replace(wrong, right))
        with pytest.raises(UsageError, match="textbook.toml: " + message):
            catalog._load.__wrapped__("textbook")


@pytest.mark.parametrize("name", machines())
def test_what_is_farther_from_the_multiprocessor_is_slower(name: str) -> None:
    gpu = machine(name)
    speeds, limits = gpu.speeds, gpu.limits
    assert speeds.latency_shared <= speeds.latency_l1 < speeds.latency_l2 < speeds.latency_dram
    assert speeds.l2_read <= min(speeds.l2_port, limits.l1_bytes_per_cycle)
    l2_gigabytes_per_second = speeds.l2_read * gpu.multiprocessors * gpu.boost_megahertz / 1000
    assert l2_gigabytes_per_second > speeds.read_share * gpu.dram_gigabytes_per_second


READ_ALONE = {"h100": ["clocks.warpgroup_megahertz"]}  # measured on a GPU that is not calibrated


@pytest.mark.parametrize("name", sorted(set(machines()) - {"h200"}))
def test_speeds_that_nobody_measured_for_this_model_say_so(name: str) -> None:
    gpu = machine(name)
    assert not gpu.calibrated
    assert [p.name for p in gpu.parameters if p.kind == "measured" and p not in gpu.inherited] == READ_ALONE.get(
        name, []
    )


WAYS = (r"of (\d+) GB/s", r"(\d+) only written", r"(\d+) copied")


@pytest.mark.parametrize("key", ["h100", "a100", "a10", "rtx3080", "rtx3090", "l4", "l40s", "rtx4090"])
def test_dram_writes_and_copies_as_fast_as_the_source_says(key: str) -> None:
    """ "... of 2,039 GB/s read, 2,016 only written, 1,704 copied"."""
    gpu = machine(key)
    said = gpu.sources["dram_rates"].replace(",", "")
    of, write, copied = (float(re.findall(rf"\b{how}", said)[0]) for how in WAYS)
    rates = gpu.speeds
    reached = 2 / (1 / rates.read_share + (1 + rates.turn_cost) / rates.write_share)
    assert reached * of == pytest.approx(copied, rel=0.01)
    assert rates.write_share * of == pytest.approx(write, rel=0.01)
