/* Host clocks: the C library's functions of time, answered from the virtual clock. */
#pragma once

#include <stdint.h>

int64_t clock_shift(void); /* what a real clock is from the virtual one: virtual = real + shift */
