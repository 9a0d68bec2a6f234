/* Linker of the driver API: of one piece of code, mostly PTX, which the server assembles. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

struct linker {
    char *code;
    size_t bytes;
    int pieces;
    struct rest made;
};

EXPORT CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, struct linker **linker) {
    (void)count, (void)options, (void)values;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status)
        *linker = calloc(1, sizeof **linker);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuLinkAddData_v2(struct linker *linker, int type, void *data, size_t size, const char *name,
                                 unsigned count, int *options, void **values) {
    (void)type, (void)name, (void)count, (void)options, (void)values;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && linker->pieces++)
        status = NOT_SUPPORTED;
    if (!status) {
        linker->code = memcpy(calloc(1, size + 1), data, size);
        linker->bytes = size;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuLinkComplete(struct linker *linker, void **cubin, size_t *size) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && linker->pieces != 1)
        status = INVALID_IMAGE;
    if (!status)
        status = ask(ASSEMBLE, NULL, 0, linker->code, linker->bytes, NULL, 0, &linker->made);
    if (!status) {
        *cubin = linker->made.data;
        if (size)
            *size = linker->made.bytes;
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuLinkDestroy(struct linker *linker) {
    free(linker->code);
    free(linker->made.data);
    free(linker);
    return SUCCESS;
}
