/* Virtual clock: what a program's clocks would show on a machine with the GPU.

   It is the host's clock without the time inside of our calls, plus what those would have taken there; it stands still
   while a call runs. */
#pragma once

#include <stdint.h>

int64_t real_ns(void);           /* the host's monotonic clock */
int64_t now(void);               /* virtual monotonic nanoseconds; within a call, since it began */
void freeze_clock(void);         /* a call begins */
void advance_clock(int64_t ns);  /* the call takes so long */
int64_t taken_by_calls(void);    /* so long, all of them until now */
void wait_until(int64_t virtual_ns);
int64_t waited_until(void); /* the latest time that somebody has waited for */
void release_clock(void);        /* the call ends */
void show_virtual_clock(int on); /* whether the program's clocks show it (host_clock.c) */
