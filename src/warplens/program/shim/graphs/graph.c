/* Graphs: nodes and edges, and the entry points that make, walk and change them. */
#include "graph.h"

#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct graph *new_graph(void) {
    struct graph *made = calloc(1, sizeof *made);
    made->last = &made->first;
    return made;
}

void add_tip(struct tips *tips, struct node *node) {
    for (size_t n = 0; n < tips->count; n++)
        if (tips->nodes[n] == node)
            return;
    tips->nodes = realloc(tips->nodes, (tips->count + 1) * sizeof *tips->nodes);
    tips->nodes[tips->count++] = node;
}

void set_tips(struct tips *tips, struct node *const *nodes, size_t count) {
    free(tips->nodes);
    *tips = (struct tips){NULL, 0};
    for (size_t n = 0; n < count; n++)
        add_tip(tips, nodes[n]);
}

static int remove_tip(struct tips *tips, const struct node *node) {
    for (size_t n = 0; n < tips->count; n++)
        if (tips->nodes[n] == node) {
            memmove(tips->nodes + n, tips->nodes + n + 1, (--tips->count - n) * sizeof *tips->nodes);
            return 1;
        }
    return 0;
}

struct node *new_node(struct graph *graph, const struct tips *before, const struct work *work) {
    struct node *made = calloc(1, sizeof *made);
    made->graph = graph;
    made->work = *work;
    made->place = graph->count++;
    set_tips(&made->before, before->nodes, before->count);
    *graph->last = made;
    graph->last = &made->next;
    return made;
}

static void drop_node(struct node *node) {
    drop_work(&node->work);
    free(node->before.nodes);
    free(node);
}

void destroy_graph(struct graph *graph) {
    for (struct node *node = graph->first, *next; node; node = next) {
        next = node->next;
        drop_node(node);
    }
    release_all(graph);
    free(graph);
}

struct node *copy_of(const struct node *node, const struct graph *clone) {
    for (struct node *n = clone->first; n; n = n->next) {
        if (n->origin == node)
            return n;
        struct node *inside = n->work.type == CHILD_WORK ? copy_of(node, n->work.child) : NULL;
        for (unsigned k = 0; n->work.type == CONDITION_WORK && k < n->work.condition.count && !inside; k++)
            inside = copy_of(node, n->work.condition.bodies[k]);
        if (inside)
            return inside;
    }
    return NULL;
}

struct graph *clone_graph(const struct graph *graph) {
    struct graph *clone = new_graph();
    struct node **made = calloc(graph->count + 1, sizeof *made); /* by place */
    struct tips none = {NULL, 0};
    for (struct node *n = graph->first; n; n = n->next) {
        struct work work = copied_work(&n->work);
        made[n->place] = new_node(clone, &none, &work);
        made[n->place]->origin = n;
        made[n->place]->disabled = n->disabled;
    }
    for (struct node *n = graph->first; n; n = n->next)
        for (size_t k = 0; k < n->before.count; k++)
            add_tip(&made[n->place]->before, made[n->before.nodes[k]->place]);
    free(made);
    retain_as(clone, graph);
    return clone;
}

/* Entry points */

EXPORT CUresult cuGraphCreate(struct graph **graph, unsigned flags) {
    CUresult status = begin(INITIALIZED);
    if (!status && (!graph || flags))
        status = INVALID_VALUE;
    if (!status)
        *graph = new_graph();
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphDestroy(struct graph *graph) {
    CUresult status = begin(INITIALIZED);
    if (!status && !graph)
        status = INVALID_VALUE;
    if (!status)
        destroy_graph(graph);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphClone(struct graph **clone, const struct graph *graph) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(clone && graph))
        status = INVALID_VALUE;
    if (!status)
        *clone = clone_graph(graph);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphNodeFindInClone(struct node **found, const struct node *node, const struct graph *clone) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(found && node && clone && (*found = copy_of(node, clone))))
        status = INVALID_VALUE;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphNodeGetType(const struct node *node, int *type) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(node && type))
        status = INVALID_VALUE;
    if (!status)
        *type = node->work.type;
    return finish(status, CALL_NS);
}

/* A list as CUDA gives it: where there is no room its length, else as many as fit, then NULL. */
static CUresult list(struct node *const *found, size_t count, struct node **nodes, size_t *room) {
    for (size_t n = 0; nodes && n < *room; n++)
        nodes[n] = n < count ? found[n] : NULL;
    if (!nodes || *room > count)
        *room = count;
    return SUCCESS;
}

typedef int node_test(const struct node *node, const void *with);

static CUresult list_if(const struct graph *graph, node_test *test, const void *with, struct node **nodes, size_t *room) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(graph && room))
        status = INVALID_VALUE;
    if (!status) {
        struct node **found = calloc(graph->count + 1, sizeof *found);
        size_t count = 0;
        for (struct node *n = graph->first; n; n = n->next)
            if (test(n, with))
                found[count++] = n;
        list(found, count, nodes, room);
        free(found);
    }
    return finish(status, CALL_NS);
}

static int is_any(const struct node *node, const void *with) {
    (void)with;
    return node != NULL;
}

static int is_root(const struct node *node, const void *with) {
    (void)with;
    return !node->before.count;
}

static int comes_after(const struct node *node, const void *with) {
    for (size_t n = 0; n < node->before.count; n++)
        if (node->before.nodes[n] == with)
            return 1;
    return 0;
}

EXPORT CUresult cuGraphGetNodes(const struct graph *graph, struct node **nodes, size_t *room) {
    return list_if(graph, is_any, NULL, nodes, room);
}

EXPORT CUresult cuGraphGetRootNodes(const struct graph *graph, struct node **nodes, size_t *room) {
    return list_if(graph, is_root, NULL, nodes, room);
}

static void clear_edges(edge_data *data, size_t count) {
    if (data)
        memset(data, 0, count * sizeof *data); /* all edges are full ones */
}

EXPORT CUresult cuGraphNodeGetDependentNodes_v2(const struct node *node, struct node **nodes, edge_data *data, size_t *room) {
    CUresult status = list_if(node ? node->graph : NULL, comes_after, node, nodes, room);
    if (!status && nodes)
        clear_edges(data, *room);
    return status;
}

EXPORT CUresult cuGraphNodeGetDependencies_v2(const struct node *node, struct node **nodes, edge_data *data, size_t *room) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(node && room))
        status = INVALID_VALUE;
    if (!status)
        status = list(node->before.nodes, node->before.count, nodes, room);
    if (!status && nodes)
        clear_edges(data, *room);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphGetEdges_v2(const struct graph *graph, struct node **from, struct node **to, edge_data *data,
                                   size_t *room) {
    CUresult status = begin(INITIALIZED);
    if (!status && !(graph && room && !from == !to))
        status = INVALID_VALUE;
    size_t count = 0;
    for (struct node *n = status ? NULL : graph->first; n; n = n->next)
        for (size_t k = 0; k < n->before.count; k++, count++)
            if (from && count < *room)
                from[count] = n->before.nodes[k], to[count] = n;
    if (!status && (!from || *room > count))
        *room = count;
    if (!status && from)
        clear_edges(data, *room);
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphAddDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to,
                                          const edge_data *data, size_t count) {
    (void)data;
    CUresult status = begin(INITIALIZED);
    for (size_t n = 0; n < count && !status; n++) {
        if (!graph || !from[n] || !to[n] || from[n]->graph != graph || to[n]->graph != graph || from[n] == to[n] ||
            comes_after(to[n], from[n]))
            status = INVALID_VALUE;
        else
            add_tip(&to[n]->before, from[n]);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphRemoveDependencies_v2(struct graph *graph, struct node *const *from, struct node *const *to,
                                             const edge_data *data, size_t count) {
    (void)data;
    CUresult status = begin(INITIALIZED);
    for (size_t n = 0; n < count && !status; n++)
        if (!graph || !from[n] || !to[n] || !remove_tip(&to[n]->before, from[n]))
            status = INVALID_VALUE;
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphDestroyNode(struct node *node) {
    CUresult status = begin(INITIALIZED);
    if (!status && !node)
        status = INVALID_VALUE;
    if (!status) {
        struct graph *graph = node->graph;
        struct node **at = &graph->first;
        while (*at != node)
            at = &(*at)->next;
        *at = node->next;
        if (graph->last == &node->next)
            graph->last = at;
        graph->count = 0;
        for (struct node *n = graph->first; n; n = n->next) {
            n->place = graph->count++;
            remove_tip(&n->before, node);
        }
        drop_node(node);
    }
    return finish(status, CALL_NS);
}

EXPORT CUresult cuGraphDebugDotPrint(const struct graph *graph, const char *path, unsigned flags) {
    (void)flags; /* how much is written of each node */
    static const char *const names[] = {"KERNEL", "MEMCPY", "MEMSET", "HOST",      "GRAPH",    "EMPTY",
                                        "WAIT",   "RECORD", "",       "", "MEM_ALLOC", "MEM_FREE", "", "CONDITIONAL"};
    CUresult status = begin(INITIALIZED);
    FILE *file = status || !graph || !path ? NULL : fopen(path, "w");
    if (!status && !file)
        status = INVALID_VALUE;
    if (file) {
        fputs("digraph dot {\n", file);
        for (struct node *n = graph->first; n; n = n->next) {
            const char *kernel = n->work.type == KERNEL_WORK ? n->work.kernel.function->name : "";
            fprintf(file, "\"node_%zu\" [label=\"%zu %s %s\"];\n", n->place, n->place, names[n->work.type], kernel);
            for (size_t k = 0; k < n->before.count; k++)
                fprintf(file, "\"node_%zu\" -> \"node_%zu\";\n", n->before.nodes[k]->place, n->place);
        }
        fputs("}\n", file);
        fclose(file);
    }
    return finish(status, CALL_NS);
}
