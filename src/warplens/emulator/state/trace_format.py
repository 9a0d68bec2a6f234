"""Trace format: the words of a recording; warp_recorder.py writes them, model/trace/trace_decoder.py reads them.

Words have 32 bits.

- Entering a basic block: ENTER | warp << WARP | number of the basic block; the number of the block of the grid; the
  lanes.
- An access: space << SPACE | sectors << SECTORS | number of the instruction; wavefronts | lanes << LANES | distinct
  words << DISTINCT; the numbers of the sectors (address / 32, low 32 bits; of local memory within the warp's own).
- An atomic on global memory also has its lane collisions in the second word: PASSES, lanes on the most contended
  word of each sector, summed, and FULLEST, those on the most contended of all.
- A compare-and-swap on shared memory has instead of sectors the numbers of its words (offset / bytes of a lane).
- What happens to an mbarrier: MBARRIER, with the lanes in the second word, and instead of sectors its offset in shared
  memory, a number (arrivals, bytes, the low word that it is set to, or the phase that is waited for, in bit 31), and
  how many blocks get the bytes.
- A block barrier whose number or threads are in registers, or that has a guard: BARRIER, with the lanes in the second
  word, and instead of sectors its number and the threads that it waits for, 0 for all.
- A table in constant memory has lanes and distinct words, and instead of sectors the numbers of its bank's lines of 64
  bytes.
"""

ENTER = 1 << 31
# First bit of each field, and its limit; the last field of a word begins at bit 0.
WARP, MOST_WARPS = 24, 0x7F
MOST_BASIC_BLOCKS = 0xFFFFFF
SPACE, MOST_SPACES = 28, 7
SECTORS, MOST_SECTORS = 20, 0xFF
MOST_INSTRUCTIONS = 0xFFFFF
LANES, MOST_LANES = 8, 0x3F
DISTINCT, MOST_DISTINCT = 14, 0x3F
PASSES, MOST_PASSES = 20, 0x3F
FULLEST, MOST_FULLEST = 26, 0x3F
MOST_WAVEFRONTS = 0xFF
GLOBAL, SHARED, LOCAL, TABLE, MBARRIER, BARRIER = range(6)  # spaces
ENTERED, ACCESSED = 3, 2  # words of an entry without the sectors
MBARRIER_WORDS, BARRIER_WORDS = 3, 2
