/* Modules and functions: images are sent to the server when something in them is first used. */
#define _GNU_SOURCE
#include "device.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct module *modules;

struct fatbin_wrapper { /* what nvcc passes for a fatbin */
    uint32_t magic, version;
    const void *data;
    void *more;
};

enum { WRAPPER_MAGIC = 0x466243b1 };
#define FATBIN_MAGIC 0xba55ed50u

/* Bytes of an image: nobody passes them. */
static size_t size_of(const void *image) {
    const Elf64_Ehdr *head = image;
    if (*(const uint32_t *)image == FATBIN_MAGIC)
        return 16 + ((const uint64_t *)image)[1];
    if (memcmp(image, ELFMAG, SELFMAG))
        return strlen(image); /* PTX */
    size_t sections = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
    size_t segments = head->e_phoff + (size_t)head->e_phnum * head->e_phentsize;
    return sections > segments ? sections : segments;
}

struct module *new_module(const void *image) {
    const struct fatbin_wrapper *wrapper = image;
    struct module *made = calloc(1, sizeof *made);
    made->image = wrapper->magic == WRAPPER_MAGIC ? wrapper->data : image;
    made->next = modules;
    modules = made;
    return made;
}

/* Each device has its own variables: the image is loaded again where it is first used on another one. */
struct module *module_on(struct module *module, int device) {
    if (!module || module->device == device)
        return module;
    if (!module->on[device]) {
        struct module *made = module->on[device] = new_module(module->image);
        made->device = device;
        made->by_call = module->by_call;
    }
    return module->on[device];
}

struct function *on_device(struct function *function, int device) {
    if (!function || function->module->device == device)
        return function;
    struct module *module = module_on(function->module, device);
    for (struct function *f = module->functions; f; f = f->next)
        if (!strcmp(f->name, function->name))
            return f;
    struct function *made = declare_function(module, function->name);
    made->host = function->host;
    return made;
}

struct function *known_function(const void *handle) {
    for (struct module *m = modules; m; m = m->next)
        for (struct function *f = m->functions; f; f = f->next)
            if (f == handle)
                return f;
    return NULL;
}

static CUresult load(struct module *module) {
    if (module->loaded || module->failed)
        return module->failed;
    module->failed = ask(LOAD, NULL, 0, module->image, size_of(module->image), &module->place, sizeof module->place, NULL);
    module->loaded = !module->failed;
    if (module->loaded) {
        module->context = current_context();
        take_module_load_time(module);
        add_module_memory(module->place.variables, module->place.variable_bytes);
        add_module_memory(module->place.constants, module->place.constant_bytes);
    }
    return module->failed;
}

/* A module that was registered before main() may be loaded again. */
static CUresult unload(struct module *module) {
    remove_module_memory(module->place.variables);
    remove_module_memory(module->place.constants);
    module->loaded = 0;
    module->failed = module->by_call ? INVALID_HANDLE : SUCCESS;
    for (struct function *f = module->functions; f; f = f->next)
        f->resolved = f->launched = 0;
    return ask(UNLOAD, &module->place.id, 4, NULL, 0, NULL, 0, NULL);
}

void unload_modules_of(CUcontext context) {
    for (struct module *m = modules; m; m = m->next)
        if (m->loaded && m->context == context)
            unload(m);
}

static int is_known(struct module *module) {
    for (struct module *m = modules; m; m = m->next)
        if (m == module)
            return 1;
    return 0;
}

struct function *declare_function(struct module *module, const char *name) {
    struct function *made = calloc(1, sizeof *made);
    *made = (struct function){.module = module, .name = strdup(name), .carveout = -1, .next = module->functions};
    return module->functions = made;
}

CUresult resolve(struct function *function) {
    if (function->resolved)
        return SUCCESS;
    CUresult status = load(function->module);
    struct rest rest = {NULL, 0};
    if (!status)
        status = ask(FUNCTION, &function->module->place.id, 4, function->name, strlen(function->name), &function->info,
                     sizeof function->info, &rest);
    if (status) {
        free(rest.data);
        return status;
    }
    free(function->parameters); /* of the module as it was loaded before */
    function->parameters = (struct parameter *)rest.data;
    function->max_dynamic_shared = gpu.attributes[8] - (int)function->info.shared_bytes;
    function->resolved = 1;
    take_kernel_load_time();
    return SUCCESS;
}

CUresult find_function(struct module *module, const char *name, struct function **found) {
    if (module->failed) /* also one that has been unloaded */
        return module->failed;
    for (struct function *f = module->functions; f; f = f->next)
        if (!strcmp(f->name, name)) {
            *found = f;
            return resolve(f);
        }
    struct function *made = declare_function(module, name);
    CUresult status = resolve(made);
    if (status) {
        module->functions = made->next;
        free(made);
        return status;
    }
    *found = made;
    return SUCCESS;
}

CUresult find_global(struct module *module, const char *name, uint64_t *address, uint64_t *size) {
    struct global_info info;
    CUresult status = load(module);
    if (!status)
        status = ask(GLOBAL, &module->place.id, 4, name, strlen(name), &info, sizeof info, NULL);
    if (!status && address)
        *address = info.address;
    if (!status && size)
        *size = info.bytes;
    return status;
}

/* Modules and libraries of the driver API.  Both are the same here, as are CUfunction and CUkernel. */

static CUresult load_copy(CUmodule *handle, const void *image) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !image)
        status = INVALID_VALUE;
    if (!status) {
        const struct fatbin_wrapper *wrapper = image;
        const void *data = wrapper->magic == WRAPPER_MAGIC ? wrapper->data : image;
        size_t size = size_of(data);
        char *kept = calloc(1, size + 1); /* the caller may free its own */
        memcpy(kept, data, size);
        struct module *made = new_module(kept);
        made->device = current_device();
        made->by_call = 1;
        status = load(made);
        if (status)
            modules = made->next;
        else
            *handle = made;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    return load_copy(module, image);
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, int *options, void **values) {
    (void)count, (void)options, (void)values; /* of the compiler of PTX: sizes of logs, optimization */
    return load_copy(module, image);
}

EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    return load_copy(module, image);
}

EXPORT CUresult cuModuleLoad(CUmodule *module, const char *path) {
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &found))
        return FILE_NOT_FOUND;
    char *data = calloc(1, found.st_size + 8);
    ssize_t size = read(file, data, found.st_size);
    close(file);
    CUresult status = size == found.st_size && size > 4 ? load_copy(module, data) : INVALID_IMAGE;
    free(data);
    return status;
}

EXPORT CUresult cuModuleUnload(CUmodule module) {
    CUresult status = begin(CONTEXT);
    if (!status && !is_known(module))
        status = INVALID_HANDLE;
    if (!status && module->loaded)
        status = unload(module);
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !is_known(module))
        status = INVALID_HANDLE;
    return finish(status ? status : find_function(module, name, function), CALL_NS);
}

EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !is_known(module))
        status = INVALID_HANDLE;
    return finish(status ? status : find_global(module, name, address, size), CALL_NS);
}

EXPORT CUresult cuModuleGetLoadingMode(int *mode) {
    *mode = loads_lazily() ? 2 : 1;
    return SUCCESS;
}

EXPORT CUresult cuLibraryLoadData(CUmodule *library, const void *image, int *compiler_options, void **compiler_values,
                                  unsigned compiler_count, int *options, void **values, unsigned count) {
    (void)compiler_options, (void)compiler_values, (void)compiler_count, (void)options, (void)values, (void)count;
    return load_copy(library, image);
}

EXPORT CUresult cuLibraryLoadFromFile(CUmodule *library, const char *path, int *compiler_options, void **compiler_values,
                                      unsigned compiler_count, int *options, void **values, unsigned count) {
    (void)compiler_options, (void)compiler_values, (void)compiler_count, (void)options, (void)values, (void)count;
    return cuModuleLoad(library, path);
}

EXPORT CUresult cuLibraryUnload(CUmodule library) {
    return cuModuleUnload(library);
}

EXPORT CUresult cuLibraryGetKernel(CUfunction *kernel, CUmodule library, const char *name) {
    return cuModuleGetFunction(kernel, library, name);
}

EXPORT CUresult cuLibraryGetModule(CUmodule *module, CUmodule library) {
    *module = library;
    return SUCCESS;
}

EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUmodule library, const char *name) {
    return cuModuleGetGlobal_v2(address, size, library, name);
}

EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUfunction kernel) {
    *function = kernel;
    return SUCCESS;
}

EXPORT CUresult cuKernelGetLibrary(CUmodule *library, CUfunction kernel) {
    *library = kernel->module;
    return SUCCESS;
}

EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    *module = function->module;
    return SUCCESS;
}

EXPORT CUresult cuFuncGetName(const char **name, CUfunction function) {
    *name = function->name;
    return SUCCESS;
}

EXPORT CUresult cuKernelGetName(const char **name, CUfunction kernel) {
    return cuFuncGetName(name, kernel);
}
