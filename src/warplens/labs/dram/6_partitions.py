"""A map that was published: 8 partitions, 256 bytes each in turn (GTX 280; Ruetsch and Micikevicius, "Optimizing Matrix
Transpose in CUDA", NVIDIA 2009). Who walks down a column asks for lines that are a row apart."""

from __future__ import annotations

from warplens.machine.dram_banks import place, spread
from warplens.machine.dram_channels import Channels

GTX_280 = Channels(
    channel_count=8, banks_per_channel=1, channel_bits=64, channel_megahertz=1107, transfers_per_clock=2,
    burst_bytes=256, latency_per_transfer=0,
)  # fmt: skip
LINES = 512


def quantities(*, width: int) -> dict[str, float]:
    """Rows of `width` floats: neighbouring pieces of a row, and what lies below each other."""
    row, column = range(0, 256 * LINES, 256), range(0, 4 * width * LINES, 4 * width)
    found = spread(column, GTX_280)
    return {
        "channels busy along a row": len({place(address, GTX_280).channel for address in row}),
        "channels busy": len({place(address, GTX_280).channel for address in column}),
        "use of channels": 100 * found.use,
        "camps": int(found.camps),
    }
