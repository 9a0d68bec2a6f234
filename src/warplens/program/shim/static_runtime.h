/* Replacing code of objects that have been loaded. */
#pragma once

#include "device.h"

struct jump { /* jmp *0(%rip); address */
    unsigned char code[6];
    void *target;
} __attribute__((packed));

struct jump jump_to(void *target);
int replace(uintptr_t at, const struct jump *code); /* 0 where the system forbids it */

uint64_t exported(const char *image, const char *name); /* offset of a function that an ELF file exports, or 0 */

/* Of a file at `path`, with this content, that has been mapped at `base`. */
void patch_python_bindings(const char *path, const char *image, uintptr_t base);
