/* Device: state that the entry points share.  begin() and finish() bracket every call of the driver API. */
#pragma once

#include "clock.h"
#include "cuda_types.h"
#include "driver.h"
#include "protocol.h"

enum { PITCH_UNIT = 0 }; /* place among the attributes of what is none of CUDA's: the unit of allocated rows */
enum { MOST_DEVICES = 16, GREATEST_PRIORITY = -5, PCI_BUS = 33 /* CU_DEVICE_ATTRIBUTE_PCI_BUS_ID */ };

/* Nanoseconds that calls take on the host.  Of launches, fills and events, and of waiting for a kernel beyond its end:
   measured, measurements/h200/launch_rate.csv (a virtual machine of 16 cores).  The others: assumed. */
enum {
    CALL_NS = 200,
    LAUNCH_NS = 3400,
    GRAPH_LAUNCH_NS = 1900,
    EVENT_NS = 1100,
    SYNCHRONIZE_NS = 2300,
    ALLOCATE_NS = 10000
};

enum needs { NOTHING, INITIALIZED, CONTEXT, CONTEXT_AND_NO_FAULT };

extern struct greeting gpu;

/* Takes the lock, stops the clock, and gives the error that the call must answer with, if any. */
CUresult begin(enum needs needs);
CUresult finish(CUresult status, int64_t cost_ns);

CUresult begin_on(CUdevice device);  /* of calls that name a device */
int current_device(void);            /* of this thread's current context */
CUcontext current_context(void);
CUresult enter_context(void); /* of a call that needs one */
void leave_context(void);
CUresult begin_in(const void *handle); /* of calls that name a stream, an event or memory: its context will do */
CUcontext owner_of(const void *handle); /* the context of such a thing; NULL of another */

/* The end of a context (context_end.c): all that was made in it goes. */
void end_context(CUcontext context, int device);
void remove_events_of(CUcontext context);
void remove_streams_of(CUcontext context);
void remove_textures_of(CUcontext context);
void unload_modules_of(CUcontext context);
void unregister_memory_of(CUcontext context);
void release_blocks_of(CUcontext context);
void forget_pools(int device);
void forget_variables(int device);

/* What a context does for the first time: whether the current one has not done it before. */
enum first { FIRST_LOAD = 1, FIRST_LAUNCH = 2 };
int is_first_in_context(enum first what);

int device_attribute(int attribute, CUdevice device);
void give_uuid(char *uuid, CUdevice device);
void start_runtime(void);            /* the runtime API initializes by itself, and makes the primary context current */
CUresult keep_error_of(const char *call, CUresult error); /* the last error of the runtime API, of this thread */
#define keep_error(error) keep_error_of(__func__, error)
/* Deferred work (deferred_work.c): what the server has not done yet, since nobody has looked at the results. */
void set_deferred(int flags);
void before_access(uint64_t address, size_t bytes, enum access access);
int defer_copy(uint64_t to, uint64_t from, size_t bytes, int is_dense); /* whether it is deferred, too */
int defer_fill(uint64_t to, size_t pitch, size_t width, size_t height, uint32_t value, int element);
void report_unseen_errors(void); /* at the end of the program, for --check */
void keep_fault(CUresult fault);     /* of a kernel: every call after it fails */
int has_fault(void);
void keep_printed(const char *text, size_t bytes); /* what a kernel printed: shown when the program waits for it */
void show_printed(void);

/* Memory (memory.c): the blocks that the program has allocated, by address. */

enum block_kind {
    DEVICE_MEMORY = 1,
    PINNED_MEMORY,
    MANAGED_MEMORY,
    MODULE_MEMORY,
    GRAPH_MEMORY, /* of a node that allocates */
    BACKING,      /* content of memory that is mapped elsewhere; the server does not know it */
    HOST_BACKING, /* likewise, of registered memory of the host */
    MAPPED_MEMORY,
    REGISTERED_MEMORY,
};

struct pool; /* pool.c */

struct block {
    uint64_t address, size;
    enum block_kind kind;
    int device;
    CUcontext context; /* that it ends with */
    struct pool *pool;
    uint64_t version; /* another one after every change of its content; unique among all blocks */
};

/* Addresses that programs reserve (cuMemAddressReserve), apart from the arena. */
#define RESERVED_START (gpu.arena + (1ull << 40))
#define RESERVED_BYTES (1ull << 40)

void mark_written(struct block *block);

struct block *block_of(uint64_t address, uint64_t bytes); /* that holds these bytes; NULL if none does */
CUresult allocate(uint64_t size, enum block_kind kind, uint64_t *address);
CUresult release(uint64_t address, int must_be_host);
void add_module_memory(uint64_t address, uint64_t size);
void remove_module_memory(uint64_t address);
void leave_pool(struct block *block); /* pool.c: a block that goes */
void release_backing(uint64_t address);
struct block *add_mapped(struct block block, uint64_t content);
void remove_mapped(uint64_t address);
struct block *block_from(uint64_t address);
int of_device(const void *pointer); /* an address that is none of the host's own memory */
int is_host(const struct block *block);
uint64_t bytes_free(int device);

/* Per-thread default streams (per_thread.c): whether a stream of 0 is this thread's, until the call ends. */
void mark_per_thread(void);
int is_per_thread(void);
void end_per_thread(void);

/* Accesses by the host (host_access.c), for --check */

int in_call(void); /* whether this thread is in a call of ours */
void guard_from_host(struct block *block, int64_t end); /* which work that ends then writes */
void settle_host_access(void);

/* Copies (copy.c) */

struct rows { /* a copy of rows; of one, where height and depth are 1 */
    char *to;
    const char *from;
    size_t width, height, depth, to_pitch, from_pitch, to_slice, from_slice;
};

CUresult rows_of(const copy_3d *copy, struct rows *rows);
copy_3d copy_of_rows(const struct rows *rows, enum copy_kind kind);
copy_3d copy_of_bytes(void *to, const void *from, size_t size, enum copy_kind kind);
copy_3d copy_of_box(const box_copy *box);
box_copy box_of_copy(const copy_3d *copy);
CUresult copy_rows(const struct rows *rows, enum copy_kind kind, CUstream stream, int waits);
CUresult fill_rows(uint64_t to, size_t pitch, size_t width, size_t height, uint32_t value, int element, CUstream, int waits);

/* Streams (stream.c) */

enum engine { COMPUTE, COPY_IN, COPY_OUT, ANY_ENGINE };

int stream_known(CUstream stream);
/* Queues work: it begins when the stream and the engine are free.  Gives its end. */
int64_t queue_work(CUstream stream, enum engine engine, double share, int64_t duration);

/* Fills, and copies within the GPU: how long, with what their bytes take; filled: bytes of a fill, SIZE_MAX: a copy. */
int64_t memory_work_ns(CUstream stream, double bytes_ns);
int64_t queue_memory_work(CUstream stream, int64_t duration, size_t filled);
void stream_wait(CUstream stream, int64_t until);
int64_t device_end(int device);

/* Modules and functions (module.c) */

struct parameter {
    uint32_t offset, size;
};

struct function {
    struct module *module;
    const char *name;
    const void *host; /* the address of its stub, where the runtime API knows it */
    int resolved, launched, max_dynamic_shared, carveout;
    struct function_info info;
    struct parameter *parameters;
    struct older_launch *older; /* what cuParamSetv and the like have set */
    struct function *next;
};

struct module {
    const void *image;
    CUresult failed;
    int loaded, by_call; /* by_call: of the driver API; else registered before main() */
    struct loaded_module place;
    struct function *functions;
    CUcontext context;                /* that it was loaded in */
    int device;                       /* of its variables */
    struct module *on[MOST_DEVICES]; /* the same image on other devices, once used there */
    struct module *next;
};

struct module *new_module(const void *image);
CUresult find_function(struct module *module, const char *name, struct function **function);
struct function *declare_function(struct module *module, const char *name); /* looked up when it is first used */
struct function *on_device(struct function *function, int device);
struct module *module_on(struct module *module, int device);
struct function *known_function(const void *handle); /* NULL if it is none */
CUresult resolve(struct function *function);
CUresult find_global(struct module *module, const char *name, uint64_t *address, uint64_t *size);

/* Loading (loading.c): what the host takes where code is used for the first time, and for a launch. */

int loads_lazily(void);
void take_module_load_time(const struct module *module);
void take_kernel_load_time(void);
void take_launch_time(struct function *function);

/* Launches (launch.c) */

struct shape {
    dim3 grid, block, cluster;
    size_t shared;
    int cooperative;
    CUstream stream;
};

CUresult launch(struct function *function, const struct shape *shape, void **values, void **extra);
CUresult prepare_launch(struct function *function, const struct shape *shape, void **values, void **extra, char **block);
CUresult launch_block(struct function *function, const struct shape *shape, const char *block);
void apply_attributes(struct shape *shape, const launch_attribute *attributes, unsigned count);

/* What L2 holds (l2_state.c), as a number: the same where the same launches, copies and fills came before. */

uint64_t l2_state(void);
void set_l2_state(uint64_t state); /* as the server calls it */
void use_l2(uint64_t address, uint64_t bytes, int written); /* by a copy or fill */

/* Repeats (repeat.c) */

struct repeat;
struct repeat *find_repeat(const struct launch_request *request, const char *parameters, size_t bytes);
CUresult launch_again(struct repeat *repeat, CUstream stream);
void keep_repeat(const struct launch_request *request, const char *parameters, size_t bytes,
                 const struct launch_answer *answer, const struct touched_block *touched);
int is_filled(uint64_t to, uint64_t bytes, uint32_t value, int element); /* as keep_fill() said of it */
void keep_fill(uint64_t to, uint64_t bytes, uint32_t value, int element);

void *known_entry(const char *name); /* entry_points.c */
CUresult not_provided(const char *name); /* a call; named at the end; NOT_SUPPORTED */
CUresult refuse(const char *what);       /* likewise, a part of a call, within it */
