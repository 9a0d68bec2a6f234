"""The GPUs that are described, with links to their files, for docs/gpus.md."""

from __future__ import annotations

from warplens.machine import machine, machines

FILES = "../src/warplens/machine"


def main() -> None:
    print("| name | GPU | architecture | SMs | boost clock, MHz | L2, MiB | DRAM, GB/s | speeds |")
    print("|---|---|---|--:|--:|--:|--:|---|")
    for found in sorted(map(machine, machines()), key=lambda each: (int(each.arch[3:]), each.key)):
        cells = (
            f"[`{found.key}`]({FILES}/{found.key}.toml)", found.title, found.arch, str(found.multiprocessors),
            f"{found.boost_megahertz:,}", f"{found.l2_bytes / 2**20:g}", f"{found.dram_gigabytes_per_second:,}",
            "measured" if found.calibrated else "published",
        )  # fmt: skip
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
