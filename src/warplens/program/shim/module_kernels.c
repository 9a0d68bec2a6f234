/* Kernels of a module or library: how many there are, and all of them. */
#include "driver.h"

#include "device.h"

#include <stdlib.h>
#include <string.h>

/* Their symbols, each with a 0 behind. */
static CUresult symbols_of(struct module *module, struct rest *symbols) {
    if (!module || !module->loaded)
        return INVALID_HANDLE;
    return ask(KERNELS, &module->place.id, 4, NULL, 0, NULL, 0, symbols);
}

EXPORT CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module) {
    struct rest symbols = {NULL, 0};
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = count ? symbols_of(module, &symbols) : INVALID_VALUE;
    if (!status) {
        *count = 0;
        for (size_t n = 0; n < symbols.bytes; n++)
            *count += !symbols.data[n];
    }
    free(symbols.data);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned most, CUmodule module) {
    struct rest symbols = {NULL, 0};
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = functions ? symbols_of(module, &symbols) : INVALID_VALUE;
    size_t at = 0;
    for (unsigned n = 0; n < most && at < symbols.bytes && !status; n++) {
        status = find_function(module, symbols.data + at, &functions[n]);
        at += strlen(symbols.data + at) + 1;
    }
    free(symbols.data);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuLibraryGetKernelCount(unsigned *count, CUmodule library) {
    return cuModuleGetFunctionCount(count, library);
}

EXPORT CUresult cuLibraryEnumerateKernels(CUfunction *kernels, unsigned most, CUmodule library) {
    return cuModuleEnumerateFunctions(kernels, most, library);
}

EXPORT CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *size, CUmodule library, const char *name) {
    return cuLibraryGetGlobal(address, size, library, name);
}

/* Code is loaded when it is first needed; whether it has been is all that these tell. */

EXPORT CUresult cuFuncLoad(CUfunction function) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        status = function ? resolve(function) : INVALID_HANDLE;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuFuncIsLoaded(int *loaded, CUfunction function) {
    CUresult status = begin(CONTEXT);
    if (!status && !(loaded && function))
        status = INVALID_VALUE;
    if (!status)
        *loaded = function->resolved;
    return finish(status, CALL_NS);
}
