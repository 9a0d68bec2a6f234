/* Work: what a node of a graph does, and how it is done. */
#include "graph.h"

#include "driver.h"

#include <stdlib.h>
#include <string.h>

static void point_into(struct kernel_work *kernel) {
    unsigned count = kernel->function->info.parameter_count;
    kernel->values = calloc(count + 1, sizeof *kernel->values);
    for (unsigned n = 0; n < count; n++)
        kernel->values[n] = kernel->block + kernel->function->parameters[n].offset;
}

CUresult kernel_work(struct work *work, struct function *function, const struct shape *shape, void **values, void **extra) {
    int device = shape->stream ? found_stream(shape->stream)->device : current_device();
    *work = (struct work){.type = KERNEL_WORK, .device = device};
    char *block;
    function = on_device(function, device);
    CUresult status = prepare_launch(function, shape, values, extra, &block);
    if (status)
        return status;
    work->kernel = (struct kernel_work){function, *shape, block, NULL};
    work->kernel.shape.stream = NULL;
    point_into(&work->kernel);
    return SUCCESS;
}

struct work copied_work(const struct work *work) {
    struct work copy = *work;
    if (work->type == KERNEL_WORK) {
        size_t bytes = work->kernel.function->info.parameter_bytes + 1;
        copy.kernel.block = memcpy(malloc(bytes), work->kernel.block, bytes);
        point_into(&copy.kernel);
    } else if (work->type == CHILD_WORK) {
        copy.child = clone_graph(work->child);
    } else if (work->type == CONDITION_WORK) {
        copy.condition.bodies = calloc(work->condition.count, sizeof *copy.condition.bodies);
        for (unsigned n = 0; n < work->condition.count; n++)
            copy.condition.bodies[n] = clone_graph(work->condition.bodies[n]);
    }
    return copy;
}

void drop_work(struct work *work) {
    if (work->type == KERNEL_WORK) {
        free(work->kernel.block);
        free(work->kernel.values);
    } else if (work->type == CHILD_WORK) {
        destroy_graph(work->child);
    } else if (work->type == CONDITION_WORK) {
        for (unsigned n = 0; n < work->condition.count; n++)
            destroy_graph(work->condition.bodies[n]);
        free(work->condition.bodies);
    }
}

CUresult launch_within(const struct graph *child, struct stream *stream) {
    struct node **order;
    int64_t end;
    CUresult status = order_nodes(child, &order);
    if (status)
        return status;
    struct stream *parent = stream->parent;
    status = launch_graph(child, order, parent, stream->end, &end);
    free(order);
    open_branch(parent, stream->device, end, NO_KERNEL);
    return status;
}

CUresult perform(struct work *work, struct stream *stream) {
    struct rows rows;
    struct shape shape;
    switch (work->type) {
    case KERNEL_WORK:
        shape = work->kernel.shape;
        shape.stream = stream;
        return launch_block(work->kernel.function, &shape, work->kernel.block);
    case COPY_WORK:
        rows_of(&work->copy, &rows);
        return copy_rows(&rows, work->copy.kind, stream, 0);
    case FILL_WORK:
        return fill_rows(work->fill.to, work->fill.pitch, work->fill.width * work->fill.element, work->fill.height,
                         work->fill.value, work->fill.element, stream, 0);
    case HOST_WORK: /* without the lock: other threads may call meanwhile */
        show_printed();
        finish(SUCCESS, 0);
        work->host.call(work->host.data);
        return begin(NOTHING);
    case CHILD_WORK:
        return launch_within(work->child, stream);
    case CONDITION_WORK:
        return perform_condition(&work->condition, stream);
    case WAIT_WORK:
        if (known_event(work->event))
            stream_wait(stream, work->event->at);
        return SUCCESS;
    case RECORD_WORK:
        if (known_event(work->event)) {
            settle_everywhere(work->event);
            work->event->recorded = 1;
            work->event->at = stream->end;
        }
        return SUCCESS;
    case EMPTY_WORK:
    case ALLOCATE_WORK: /* the memory has its place since the node was made, until the graph goes */
    case FREE_WORK:
        return SUCCESS;
    }
    return INVALID_VALUE;
}
