/* Linker of the driver API: pieces of code are sent to the server, which assembles and links them. */
#include "device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WALL_TIME = 2, INFO_LOG, INFO_LOG_SIZE, ERROR_LOG, ERROR_LOG_SIZE }; /* CUjit_option */
enum { MOST_KINDS = 5 };                                                     /* CUjitInputType: NVVM is 5 */

struct linker {
    char *pieces; /* each: kind and bytes (a word each), and its content */
    size_t bytes;
    int count;
    struct rest made;
    unsigned option_count;
    int *options;
    void **values;
};

/* What is written about the work: nothing was said, and it took no time. */
static void answer_options(const struct linker *linker) {
    for (unsigned n = 0; n < linker->option_count; n++) {
        int option = linker->options[n];
        if (option == WALL_TIME || option == INFO_LOG_SIZE || option == ERROR_LOG_SIZE)
            linker->values[n] = NULL;
        else if ((option == INFO_LOG || option == ERROR_LOG) && linker->values[n])
            *(char *)linker->values[n] = 0;
    }
}

EXPORT CUresult cuLinkCreate_v2(unsigned count, int *options, void **values, struct linker **linker) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status) {
        *linker = calloc(1, sizeof **linker);
        (*linker)->option_count = count;
        (*linker)->options = options;
        (*linker)->values = values; /* which the program keeps until the end */
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuLinkAddData_v2(struct linker *linker, int kind, void *data, size_t size, const char *name,
                                 unsigned count, int *options, void **values) {
    (void)name, (void)count, (void)options, (void)values;
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !(linker && data && size))
        status = INVALID_VALUE;
    if (!status && kind >= MOST_KINDS)
        status = refuse("cuLinkAddData of NVVM code");
    if (!status) {
        uint32_t head[2] = {kind, size};
        linker->pieces = realloc(linker->pieces, linker->bytes + sizeof head + size);
        memcpy(linker->pieces + linker->bytes, head, sizeof head);
        memcpy(linker->pieces + linker->bytes + sizeof head, data, size);
        linker->bytes += sizeof head + size;
        linker->count++;
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuLinkAddFile_v2(struct linker *linker, int kind, const char *path, unsigned count, int *options,
                                 void **values) {
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file)
        return FILE_NOT_FOUND;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = calloc(1, size + 1);
    size_t read = fread(data, 1, size, file);
    fclose(file);
    CUresult status = cuLinkAddData_v2(linker, kind, data, read, path, count, options, values);
    free(data);
    return status;
}

EXPORT CUresult cuLinkComplete(struct linker *linker, void **cubin, size_t *size) {
    CUresult status = begin(CONTEXT_AND_NO_FAULT);
    if (!status && !(linker && linker->count && cubin))
        status = INVALID_VALUE;
    if (!status)
        status = ask(LINK, NULL, 0, linker->pieces, linker->bytes, NULL, 0, &linker->made);
    if (!status) {
        answer_options(linker);
        *cubin = linker->made.data;
        if (size)
            *size = linker->made.bytes;
    }
    return finish(status, ALLOCATE_NS);
}

EXPORT CUresult cuLinkDestroy(struct linker *linker) {
    free(linker->pieces);
    free(linker->made.data);
    free(linker);
    return SUCCESS;
}
