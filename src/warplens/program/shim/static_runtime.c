/* Static runtime: where an object has NVIDIA's runtime linked into it, or is a shared runtime other than this library
   (that of CUDA 12, or one that a Python package brings), its functions are replaced by ours.

   They are local functions of the object, found in its symbol table, or those that it exports, and begin with a jump
   from then on.  Nothing of theirs is run. */
#define _GNU_SOURCE
#include "static_runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const Elf64_Shdr *section(const char *image, const char *name) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + head->e_shoff);
    const char *names = image + sections[head->e_shstrndx].sh_offset;
    for (int n = 0; n < head->e_shnum; n++)
        if (!strcmp(names + sections[n].sh_name, name))
            return &sections[n];
    return NULL;
}

static int is_readable(const char *image, size_t size) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    size_t end = size < sizeof *head ? 0 : head->e_shoff + (size_t)head->e_shnum * sizeof(Elf64_Shdr);
    return end && end <= size && !memcmp(image, ELFMAG, SELFMAG) && head->e_shnum;
}

struct jump jump_to(void *target) {
    return (struct jump){{0xff, 0x25, 0, 0, 0, 0}, target};
}

int replace(uintptr_t at, const struct jump *code) {
    uintptr_t page = sysconf(_SC_PAGESIZE), first = at / page * page;
    size_t length = at + sizeof *code - first;
    if (mprotect((void *)first, length, PROT_READ | PROT_WRITE | PROT_EXEC))
        return 0;
    memcpy((void *)at, code, sizeof *code);
    mprotect((void *)first, length, PROT_READ | PROT_EXEC);
    return 1;
}

uint64_t exported(const char *image, const char *name) {
    const Elf64_Shdr *symbols = section(image, ".dynsym"), *strings = section(image, ".dynstr");
    if (!symbols || !strings)
        return 0;
    const Elf64_Sym *table = (const Elf64_Sym *)(image + symbols->sh_offset);
    for (size_t n = 0; n < symbols->sh_size / sizeof *table; n++)
        if (!strcmp(image + strings->sh_offset + table[n].st_name, name))
            return table[n].st_value;
    return 0;
}

/* Bytes of a function, with what fills up to the next, as functions begin at multiples of 16. */
static size_t room_of(const Elf64_Sym *function) {
    return function->st_value % 16 ? function->st_size : (function->st_size + 15) / 16 * 16;
}

static void *entry_for(const char *name, int is_cuda12) {
    char old[128];
    snprintf(old, sizeof old, "%s_12", name);
    void *found = is_cuda12 ? known_entry(old) : NULL;
    return found ? found : known_entry(name);
}

static void patch(const char *image, uintptr_t base, int is_shared_runtime) {
    const Elf64_Shdr *symbols = section(image, is_shared_runtime ? ".dynsym" : ".symtab");
    const Elf64_Shdr *strings = section(image, is_shared_runtime ? ".dynstr" : ".strtab");
    int binding = is_shared_runtime ? STB_GLOBAL : STB_LOCAL;
    if (!symbols || !strings)
        return;
    const Elf64_Sym *table = (const Elf64_Sym *)(image + symbols->sh_offset);
    const char *names = image + strings->sh_offset;
    int is_cuda12 = 0;
    for (size_t n = 0; n < symbols->sh_size / sizeof *table && !is_cuda12; n++)
        is_cuda12 = !strcmp(names + table[n].st_name, "cudaGetDeviceProperties_v2"); /* which CUDA 13 has not */
    for (size_t n = 0; n < symbols->sh_size / sizeof *table; n++) {
        const char *name = names + table[n].st_name;
        if (table[n].st_info != ELF64_ST_INFO(binding, STT_FUNC) || table[n].st_shndx == SHN_UNDEF)
            continue;
        if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
            continue;
        void *ours = entry_for(name, is_cuda12);
        struct jump jump = jump_to(ours);
        if (!ours || room_of(&table[n]) < sizeof jump || replace(base + table[n].st_value, &jump))
            continue;
        fputs("warplens: this system forbids to change code: build the program with `nvcc --cudart shared`\n", stderr);
        _exit(1);
    }
}

static int is_shared_runtime(const char *path) {
    static const char begins[] = "libcudart.so";
    const char *name = strrchr(path, '/');
    return name && !strncmp(name + 1, begins, sizeof begins - 1);
}

static void patch_file(const char *path, uintptr_t base) {
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (!fstat(file, &found) && found.st_size > (long)sizeof(Elf64_Ehdr)) {
        char *image = mmap(NULL, found.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (image != MAP_FAILED) {
            if (is_readable(image, found.st_size)) {
                patch(image, base, is_shared_runtime(path));
                patch_python_bindings(path, image, base);
            }
            munmap(image, found.st_size);
        }
    }
    close(file);
}

static void patch_object(const struct link_map *object) {
    Dl_info own;
    if (dladdr((void *)patch_object, &own) && own.dli_fbase == (void *)object->l_addr)
        return;
    if (object == _r_debug.r_map) /* the program, whose name is empty */
        patch_file("/proc/self/exe", object->l_addr);
    else if (strchr(object->l_name, '/'))
        patch_file(object->l_name, object->l_addr);
}

/* Objects that are loaded later, as Python's extension modules are: the dynamic linker calls a function for debuggers
   (link.h: r_brk) when an object has been mapped, and before its constructors, which register its kernels.  Each is
   patched once: where one of the same name comes to the same place, it has been unloaded meanwhile. */

static struct link_map *newest;

static void patch_new_objects(void) {
    if (_r_debug.r_state == RT_DELETE)
        newest = NULL; /* may go */
    if (_r_debug.r_state != RT_CONSISTENT)
        return;
    struct link_map *object = newest ? newest->l_next : _r_debug.r_map, *last = newest;
    for (; object; last = object, object = object->l_next)
        patch_object(object);
    newest = last;
}

enum { ALIGNMENT_OF_FUNCTIONS = 16 };

/* Before the constructors of the program, which register its kernels. */
__attribute__((constructor)) static void patch_all(void) {
    if (!getenv("WARPLENS_SERVER"))
        return;
    patch_new_objects();
    struct jump jump = jump_to(patch_new_objects);
    if (_r_debug.r_brk && _r_debug.r_brk % ALIGNMENT_OF_FUNCTIONS == 0) /* so that a jump has room there */
        replace(_r_debug.r_brk, &jump);
}
