"""Significance: how far a predicted ratio of two versions' times is from the measured one.

Of 183 pairs of neighbouring rungs of the labs (results.csv and measured.csv of each lab, H200) the predicted ratio is
off by 1.4 % in the median and by 10.5 % at p90; where the measured times are within 10 % of each other (104 pairs), by
0.7 and 4.7 %.  benchmarks/labs/ratios.py prints these figures.
"""

from __future__ import annotations

from warplens.machine.parameter import measured

NOISE = measured(
    0.05,
    "share",
    "src/warplens/labs/reduction/measured.csv and those of the other labs: p90 where times are alike, 4.7 %",
)
RATIO_ERROR = measured(0.105, "share", "src/warplens/labs/reduction/measured.csv and those of the other labs: p90")
