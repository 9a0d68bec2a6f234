/* Python bindings: the runtime inside cuda.bindings, whose symbol table is stripped.

   Other modules know its functions by the table of a Cython module, __pyx_capi__: a capsule a function, with the name
   and the parameters of the runtime's.  Our functions are put into it once the module has been filled. */
#define _GNU_SOURCE
#include "static_runtime.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/types.h>

typedef void PyObject;

struct slot { /* PyModuleDef_Slot */
    int id;
    void *value;
};

struct definition { /* PyModuleDef up to its slots, behind PyModuleDef_Base */
    char base[40];
    const char *name, *documentation;
    ssize_t size;
    void *methods;
    struct slot *slots;
};

enum { EXECUTE = 2 }; /* Py_mod_exec */

static struct definition *(*initializer)(void); /* PyInit_runtime */
static struct jump replaced;                    /* its first bytes */
static int (*fill)(PyObject *module);

static void *python(const char *name) {
    return dlsym(RTLD_DEFAULT, name);
}

static void put_functions(PyObject *module) {
    PyObject *(*attribute)(PyObject *, const char *) = python("PyObject_GetAttrString");
    int (*next)(PyObject *, ssize_t *, PyObject **, PyObject **) = python("PyDict_Next");
    const char *(*text)(PyObject *) = python("PyUnicode_AsUTF8");
    int (*point)(PyObject *, void *) = python("PyCapsule_SetPointer");
    if (!attribute || !next || !text || !point)
        return;
    PyObject *table = attribute(module, "__pyx_capi__"), *name, *capsule;
    for (ssize_t place = 0; table && next(table, &place, &name, &capsule);) {
        const char *called = text(name);
        void *ours = known_entry(called + (*called == '_'));
        if (ours)
            point(capsule, ours);
    }
}

static int fill_and_put(PyObject *module) {
    int failed = fill(module);
    if (!failed)
        put_functions(module);
    return failed;
}

/* In the place of PyInit_runtime. */
static struct definition *initialize(void) {
    replace((uintptr_t)initializer, &replaced);
    struct definition *made = initializer();
    for (struct slot *slot = made ? made->slots : NULL; slot && slot->id; slot++)
        if (slot->id == EXECUTE && slot->value != (void *)fill_and_put) {
            fill = (int (*)(PyObject *))slot->value;
            slot->value = (void *)fill_and_put;
        }
    return made;
}

void patch_python_bindings(const char *path, const char *image, uintptr_t base) {
    if (!strstr(path, "/cuda/bindings/_internal/runtime."))
        return;
    uint64_t place = exported(image, "PyInit_runtime");
    if (!place)
        return;
    initializer = (struct definition * (*)(void))(base + place);
    memcpy(&replaced, (void *)(base + place), sizeof replaced);
    struct jump jump = jump_to(initialize);
    replace(base + place, &jump);
}
