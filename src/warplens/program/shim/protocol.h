/* Protocol: messages to the process that owns the GPU's memory and executes kernels (program/protocol.py).

   A message is a head of two words, operation and bytes, and its payload; an answer likewise, with a status in place of
   the operation.  Notices are not answered: they are kept here and precede the next request. */
#pragma once

#include "cuda_types.h"

enum operation { HELLO = 1, NOTICES, LOAD, FUNCTION, GLOBAL, LAUNCH, OCCUPANCY, UNLOAD, MISSING, LINK, TEXTURE, TENSOR_MAP, KERNELS, REPEAT, ACCESS, DEFER, API_ERROR = 64 };

/* TIMED: the launch, copy or fill that was noticed last: `detail` is its stream, `address` when it begins,
   `bytes` twice its GPU, and 1 where the stream is the default one.
   MISUSED: a copy whose direction, `detail`, is not that of its pointers, which is `bytes`.
   COPIED: `address` is where a copy or fill writes GPU memory, else where it reads; MOVED_FROM precedes one within the GPU.
   `detail` is its kind, and PAGEABLE where the host's memory is not page-locked.
   FREED: `more` is 1 where a block goes with its context, before CONTEXT_ENDED.
   DUPLICATED: the block at `address` contains what that at `more` contains.
   UNSYNCHRONIZED: a block that the host has touched before it waited for the work that writes it. */
enum notice_kind {
    ALLOCATED = 1, FREED, WRITTEN, COPIED, REPEATED, MAPPED, HEAP_LIMIT, STACK_LIMIT, MOVED_FROM, CONTEXT_ENDED, TIMED = 32, MISUSED, UNSYNCHRONIZED, FILLED = 48, DUPLICATED
};

enum { PAGEABLE = 0x100 };

enum { ATTRIBUTES = 160, SIZES = 6 };

struct greeting { /* answer to HELLO: the GPU */
    uint64_t arena, arena_bytes, allocatable_bytes, memory_bytes;
    double copy_ns, next_copy_ns;                                     /* of a copy of nothing; behind another */
    double kernel_ns;                /* of a kernel that does nothing */
    double back_to_back_ns, node_ns; /* by which a launch right behind another is shorter, and a node behind another */
    double to_device_rate, to_host_rate, within_rate, fill_rate; /* bytes a nanosecond */
    double pageable_bytes[SIZES], pageable_to_device_ns[SIZES], pageable_to_host_ns[SIZES];
    int32_t real_time, devices;
    int32_t attributes[ATTRIBUTES];
    char name[256];
    unsigned char uuid[16];
    int32_t checks, unused; /* whether misuse is looked for */
};

struct notice {
    uint32_t kind, detail;
    uint64_t address, bytes;
    int64_t more;
};

struct loaded_module { /* answer to LOAD: the parts of the arena with its variables */
    uint32_t id, padding;
    uint64_t variables, variable_bytes, constants, constant_bytes;
};

struct function_info { /* answer to FUNCTION; offset and size of each parameter follow */
    uint32_t id, registers, shared_bytes, local_bytes, constant_bytes, max_threads, binary_version;
    uint32_t parameter_count, parameter_bytes, cluster[3];
};

struct global_info { /* answer to GLOBAL */
    uint64_t address, bytes;
};

struct launch_request { /* the parameter block follows */
    uint32_t function, grid[3], block[3], shared, cluster[3], cooperative;
};

enum {
    REPEATABLE = 1, /* it would do the same again, while these blocks stay as they are now */
    DEFERRED = 2    /* results that are known are not in memory yet (deferred_work.c) */
};

struct launch_answer { /* the blocks that it touched follow, then what the kernel printed */
    int64_t nanoseconds;
    double share; /* of the GPU that the grid occupies, at most 1 */
    int32_t fault;
    uint32_t number;     /* of this answer, for a launch that repeats it */
    uint32_t flags;
    uint32_t touched;
    uint64_t l2; /* the number of what L2 holds then */
};

struct repeat_answer { /* answer to REPEAT: the launch with this number once more */
    int64_t nanoseconds;
    uint64_t l2;
};

enum access { READ, WRITTEN_IN_PART, WRITTEN_AS_WHOLE };

struct access_request { /* a block that is accessed next */
    uint64_t block;
    uint32_t access, padding;
};

struct defer_request { /* a copy of `width` bytes, or a fill of rows */
    uint64_t to_block, to, from_block, from, pitch, width, height;
    uint32_t value, element; /* 0 bytes: a copy */
};

struct defer_answer { /* to both */
    uint32_t done, flags; /* whether the work is deferred; DEFERRED */
};

struct touched_block {
    uint64_t address;
    uint32_t written, padding;
};

struct occupancy_request {
    uint32_t function, block_threads, shared, padding;
};

/* Connects this process; an error of CUDA's if there is nothing to connect to. */
CUresult connect_server(struct greeting *greeting);

/* Sends a request and waits.  The answer's payload: `answer_bytes` to `answer`; the rest, with a 0 behind, to a new
   block at *rest, whose bytes are returned in *rest_bytes (where `rest` is not NULL). */
struct rest {
    char *data;
    size_t bytes;
};
CUresult ask(enum operation operation, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
             void *answer, size_t answer_bytes, struct rest *rest);

/* Queues a notice.  `more`: nanoseconds of a copy, the place in the arena of a block that is mapped elsewhere. */
void notify(enum notice_kind kind, uint32_t detail, uint64_t address, uint64_t bytes, int64_t more);
int arena_file(void); /* to map parts of the arena elsewhere */
void flush_notices(void);

/* An error that a call has answered with (--check): when it does; at the end of the program where nobody has asked for
   it; or of a kernel, at the end, where no call has answered with it. */
enum error_kind { ANSWERED, NOT_ASKED_FOR, NOT_SEEN };
void report_error(enum error_kind kind, const char *call, CUresult error);

/* Names an entry point that is not provided; once each. */
void report_missing(const char *name);
