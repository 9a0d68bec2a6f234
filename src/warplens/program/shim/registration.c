/* Registration: what the code that nvcc generates says of a program's kernels and variables before main(). */
#define _GNU_SOURCE
#include "device.h"
#include "runtime.h"

#include <stdlib.h>

struct registered {
    const void *host; /* the address of the kernel's stub, or of the variable's shadow */
    struct module *module;
    const char *name;
    struct function *function;
    uint64_t size, address[MOST_DEVICES];
};

static struct registered *table; /* open addressing by host address; a power of two entries */
static size_t room, count;

static size_t place_of(const void *host) {
    size_t place = ((uintptr_t)host >> 3) * 0x9E3779B97F4A7C15u & (room - 1);
    while (table[place].host && table[place].host != host)
        place = (place + 1) & (room - 1);
    return place;
}

static struct registered *enter(const void *host) {
    if (2 * count >= room) {
        struct registered *old = table;
        size_t before = room;
        room = room ? 2 * room : 256;
        table = calloc(room, sizeof *table);
        for (size_t n = 0; n < before; n++)
            if (old[n].host)
                table[place_of(old[n].host)] = old[n];
        free(old);
    }
    struct registered *entry = &table[place_of(host)];
    count += !entry->host;
    entry->host = host;
    return entry;
}

static struct registered *registered(const void *host) {
    struct registered *entry = room && host ? &table[place_of(host)] : NULL;
    return entry && entry->host ? entry : NULL;
}

/* A function by its stub, or by the handle that __cudaGetKernel gave. */
CUresult function_of(const void *host, struct function **function) {
    struct registered *entry = registered(host);
    *function = entry ? entry->function : known_function(host);
    return *function ? SUCCESS : INVALID_DEVICE_FUNCTION;
}

CUresult symbol_of(const void *host, uint64_t *address, uint64_t *size) {
    struct registered *entry = registered(host);
    if (!entry)
        return INVALID_SYMBOL;
    int device = current_device();
    CUresult status = SUCCESS;
    if (!entry->address[device])
        status = find_global(module_on(entry->module, device), entry->name, &entry->address[device], &entry->size);
    *address = entry->address[device];
    *size = entry->size;
    return status == NOT_FOUND ? INVALID_SYMBOL : status;
}

/* Managed variables: the program reads their address from a pointer, which is set when the GPU is first used. */

struct managed {
    void **pointer;
    struct module *module;
    const char *name;
    struct managed *next;
};

static struct managed *managed;
static int placed;

void place_managed_variables(void) {
    for (struct managed *m = placed ? NULL : managed; m; m = m->next) {
        uint64_t address;
        if (!find_global(m->module, m->name, &address, NULL))
            *m->pointer = (void *)address;
    }
    placed = 1;
}

void forget_variables(int device) {
    for (size_t n = 0; n < room; n++)
        table[n].address[device] = 0;
    placed = 0;
}

/* Before main() nothing is sent: most programs use few of the kernels that they hold. */

EXPORT void **__cudaRegisterFatBinary(void *wrapper) {
    return (void **)new_module(wrapper);
}

EXPORT void __cudaRegisterFatBinaryEnd(void **module) {
    (void)module;
}

EXPORT void __cudaUnregisterFatBinary(void **module) {
    (void)module; /* the process is about to end */
}

EXPORT char __cudaInitModule(void **module) {
    (void)module;
    start_runtime();
    begin(NOTHING);
    place_managed_variables();
    finish(SUCCESS, 0);
    return 1;
}

EXPORT void __cudaRegisterFunction(void **module, const char *host, char *stub, const char *name, int limit, void *thread,
                                   void *block, void *block_size, void *grid_size, int *warp) {
    (void)stub, (void)limit, (void)thread, (void)block, (void)block_size, (void)grid_size, (void)warp;
    struct registered *entry = enter(host);
    entry->module = (struct module *)module;
    entry->function = declare_function(entry->module, name);
    entry->function->host = host;
}

EXPORT void __cudaRegisterVar(void **module, char *host, char *device, const char *name, int external, size_t size,
                              int constant, int global) {
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    struct registered *entry = enter(host);
    *entry = (struct registered){.host = host, .module = (struct module *)module, .name = name};
}

EXPORT void __cudaRegisterManagedVar(void **module, void **host, char *device, const char *name, int external, size_t size,
                                     int constant, int global) {
    (void)device, (void)external, (void)size, (void)constant, (void)global;
    struct managed *made = calloc(1, sizeof *made);
    *made = (struct managed){host, (struct module *)module, name, managed};
    managed = made;
    placed = 0;
    struct registered *entry = enter(host);
    *entry = (struct registered){.host = host, .module = (struct module *)module, .name = name};
}

EXPORT void __cudaRegisterHostVar(void **module, const char *name, char *host, size_t size) {
    (void)module, (void)name, (void)host, (void)size;
}

/* The configuration of a launch, between <<<...>>> and the kernel's stub; of this thread. */

enum { MOST_NESTED = 16 };
static __thread struct shape configured[MOST_NESTED];
static __thread int nested;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream stream) {
    if (nested == MOST_NESTED)
        return INVALID_CONFIGURATION;
    configured[nested++] = (struct shape){grid, block, {0, 0, 0}, shared, 0, stream};
    return 0; /* 0: go on and call the stub */
}

EXPORT CUresult __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, CUstream *stream) {
    if (!nested)
        return keep_error(INVALID_CONFIGURATION);
    const struct shape *shape = &configured[--nested];
    *grid = shape->grid, *block = shape->block, *shared = shape->shared, *stream = shape->stream;
    return SUCCESS;
}

EXPORT CUresult __cudaGetKernel(CUfunction *kernel, const void *host) {
    return keep_error(function_of(host, kernel));
}
