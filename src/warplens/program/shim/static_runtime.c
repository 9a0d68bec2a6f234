/* Static runtime: where an object has NVIDIA's runtime linked into it, its functions are replaced by ours.

   They are local functions of the object, found in its symbol table, and begin with a jump from then on.  Nothing of
   theirs is run. */
#define _GNU_SOURCE
#include "device.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct jump { /* jmp *0(%rip); address */
    unsigned char code[6];
    void *target;
} __attribute__((packed));

static const Elf64_Shdr *section(const char *image, const char *name) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image + head->e_shoff);
    const char *names = image + sections[head->e_shstrndx].sh_offset;
    for (int n = 0; n < head->e_shnum; n++)
        if (!strcmp(names + sections[n].sh_name, name))
            return &sections[n];
    return NULL;
}

static int has_code(const char *image, size_t size) {
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)image;
    size_t end = size < sizeof *head ? 0 : head->e_shoff + (size_t)head->e_shnum * sizeof(Elf64_Shdr);
    return end && end <= size && !memcmp(image, ELFMAG, SELFMAG) && head->e_shnum && section(image, ".nv_fatbin");
}

static void replace(uintptr_t at, void *target) {
    uintptr_t page = sysconf(_SC_PAGESIZE), first = at / page * page;
    size_t length = at + sizeof(struct jump) - first;
    struct jump jump = {{0xff, 0x25, 0, 0, 0, 0}, target};
    if (mprotect((void *)first, length, PROT_READ | PROT_WRITE | PROT_EXEC)) {
        fputs("warplens: this system forbids to change code: build the program with `nvcc --cudart shared`\n", stderr);
        _exit(1);
    }
    memcpy((void *)at, &jump, sizeof jump);
    mprotect((void *)first, length, PROT_READ | PROT_EXEC);
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

static void patch(const char *image, uintptr_t base) {
    const Elf64_Shdr *symbols = section(image, ".symtab"), *strings = section(image, ".strtab");
    if (!symbols || !strings)
        return;
    const Elf64_Sym *table = (const Elf64_Sym *)(image + symbols->sh_offset);
    const char *names = image + strings->sh_offset;
    int is_cuda12 = 0;
    for (size_t n = 0; n < symbols->sh_size / sizeof *table && !is_cuda12; n++)
        is_cuda12 = !strcmp(names + table[n].st_name, "cudaGetDeviceProperties_v2"); /* which CUDA 13 has not */
    for (size_t n = 0; n < symbols->sh_size / sizeof *table; n++) {
        const char *name = names + table[n].st_name;
        if (ELF64_ST_TYPE(table[n].st_info) != STT_FUNC || table[n].st_shndx == SHN_UNDEF)
            continue;
        if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
            continue;
        void *ours = entry_for(name, is_cuda12);
        if (ours && room_of(&table[n]) >= sizeof(struct jump))
            replace(base + table[n].st_value, ours);
    }
}

static void patch_file(const char *path, uintptr_t base) {
    struct stat found;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (!fstat(file, &found) && found.st_size > (long)sizeof(Elf64_Ehdr)) {
        char *image = mmap(NULL, found.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (image != MAP_FAILED) {
            if (has_code(image, found.st_size))
                patch(image, base);
            munmap(image, found.st_size);
        }
    }
    close(file);
}

static int patch_object(struct dl_phdr_info *object, size_t size, void *first) {
    (void)size;
    int is_program = *(int *)first; /* whose name is empty */
    *(int *)first = 0;
    if (is_program)
        patch_file("/proc/self/exe", object->dlpi_addr);
    else if (strchr(object->dlpi_name, '/'))
        patch_file(object->dlpi_name, object->dlpi_addr);
    return 0;
}

/* Before the constructors of the program, which register its kernels. */
__attribute__((constructor)) static void patch_all(void) {
    int first = 1;
    if (getenv("WARPLENS_SERVER"))
        dl_iterate_phdr(patch_object, &first);
}
