/* Graphs: nodes with work, and what each must wait for. */
#pragma once

#include "stream.h"

/* What a node does; numbers of cudaGraphNodeType. */
enum work_type {
    KERNEL_WORK,
    COPY_WORK,
    FILL_WORK,
    HOST_WORK,
    CHILD_WORK,
    EMPTY_WORK,
    WAIT_WORK,
    RECORD_WORK,
    ALLOCATE_WORK = 10,
    FREE_WORK,
    CONDITION_WORK = 13,
};

struct kernel_work {
    struct function *function;
    struct shape shape;
    char *block;   /* of parameters; its own */
    void **values; /* pointers into it */
};

struct fill_work { /* cudaMemsetParams, CUDA_MEMSET_NODE_PARAMS */
    uint64_t to;
    size_t pitch;
    uint32_t value, element;
    size_t width, height; /* width in elements */
};

struct host_work { /* cudaHostNodeParams */
    host_function call;
    void *data;
};

struct memory_work {
    uint64_t address, size;
};

struct condition_work { /* cudaConditionalNodeParams; the graphs are its own */
    uint64_t handle;
    int type;
    unsigned count;
    struct graph **bodies;
};

struct work {
    enum work_type type;
    int device;
    union {
        struct kernel_work kernel;
        copy_3d copy;
        struct fill_work fill;
        struct host_work host;
        struct graph *child; /* its own */
        CUevent event;
        struct memory_work memory;
        struct condition_work condition;
    };
};

struct node {
    struct graph *graph;
    struct work work;
    struct tips before;
    struct node *origin; /* in a clone: the node that this one is a copy of */
    int disabled, visited;
    size_t place; /* in the graph, by age */
    int64_t end;  /* of its last launch */
    enum predecessor ended_as; /* what it was for the next nodes */
    struct node *next;
};

struct graph {
    struct node *first, **last;
    size_t count;
    struct retained *retained; /* user objects */
};

struct graph_exec {
    struct graph *graph; /* its own */
    unsigned long long flags;
    struct node **order;
};

/* graph.c: these take no lock */
struct graph *new_graph(void);
void destroy_graph(struct graph *graph);
struct graph *clone_graph(const struct graph *graph);
struct node *copy_of(const struct node *node, const struct graph *clone);
struct node *new_node(struct graph *graph, const struct tips *before, const struct work *work); /* takes the work over */
void add_tip(struct tips *tips, struct node *node); /* once each */
void set_tips(struct tips *tips, struct node *const *nodes, size_t count);

/* user_object.c */
void retain_as(struct graph *clone, const struct graph *graph);
void release_all(struct graph *graph);

/* work.c */
CUresult kernel_work(struct work *work, struct function *function, const struct shape *shape, void **values, void **extra);
struct work copied_work(const struct work *work);
void drop_work(struct work *work);
CUresult launch_within(const struct graph *graph, struct stream *stream); /* where its node is */
CUresult perform(struct work *work, struct stream *stream);

/* condition.c */
CUresult perform_condition(const struct condition_work *condition, struct stream *stream);
void assign_defaults(const struct graph *graph); /* before a launch */

/* graph_exec.c */
CUresult order_nodes(const struct graph *graph, struct node ***order);
CUresult launch_graph(const struct graph *graph, struct node **order, struct stream *into, int64_t from, int64_t *end);
