"""Headers of the C library that device code includes and that come with no wheel.

The compiler knows printf, malloc, memcpy, __assertfail and the mathematical functions by itself; of all these
headers only assert.h has something to say.
"""

ASSERT = """\
#undef assert
#ifdef NDEBUG
#define assert(e) ((void)0)
#else
#define assert(e) ((e) ? (void)0 : __assertfail(#e, __FILE__, __LINE__, __PRETTY_FUNCTION__, 1))
#endif
"""
KNOWN_TO_THE_COMPILER = "stdio stdlib string math"

HEADERS = {"assert.h": ASSERT, "cassert": ASSERT}
for name in KNOWN_TO_THE_COMPILER.split():
    HEADERS |= {f"{name}.h": "", f"c{name}": ""}
