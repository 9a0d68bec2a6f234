/* Streams and events: what the files share that queue work, time it and capture it. */
#pragma once

#include "device.h"

struct capture; /* of streams into a graph (capture.h) */
struct node;    /* of a graph */

enum { AS_IN_CONTEXT = -1 }; /* the synchronization policy that nobody has set: measured, H100, driver 580 */

/* Nodes of a graph that the next one must wait for. */
struct tips {
    struct node **nodes;
    size_t count;
};

struct event {
    int64_t at, taken; /* when it took place, and how long calls had taken by the end of the one that recorded it */
    int recorded, timed;
    CUcontext context;
    struct capture *capture; /* where it was last recorded in a stream that is captured */
    struct tips tips;
    struct event *next;
};

/* An event recorded while the stream is idle takes place when the work before it ended and, unless somebody has looked
   at it by then, when the next work begins, if that is so near, less what calls have taken since: loading and launching.
   Two events around a launch are then as far apart as that and its predicted time, which was calibrated so, however slow
   the host is that runs this. */
enum { MOST_EARLY = 8, NEAR_NS = 20000000 };

/* A launch that begins when another ends is being prepared while that runs, unless an event stands between them. */
struct stream {
    int64_t end;
    int64_t kernel_end; /* of the last work, if that is a launch and no event was recorded behind it */
    int separate, priority; /* separate: does not wait for the default stream (CU_STREAM_NON_BLOCKING) */
    int device, destroyable;
    CUcontext context;
    char access_policy[32]; /* cudaAccessPolicyWindow: a wish */
    int synchronization_policy, memory_domain; /* wishes */
    unsigned long long id;
    struct event *early[MOST_EARLY];
    int early_count;
    int is_node; /* of a graph: the last work is a kernel that is another node */
    struct stream *parent; /* of a branch of a graph: the stream that the graph was launched into */
    struct capture *capture;
    struct tips tips; /* what the next node captured here waits for */
    struct stream *next;
};

enum predecessor { NO_KERNEL, KERNEL_BEFORE, KERNEL_NODE }; /* of a node of a graph */

struct stream *found_stream(CUstream handle); /* NULL if there is none */
struct stream *default_stream(int device);
struct stream *first_stream(void); /* of those that the program has made, and the per-thread ones */
struct stream *new_stream(unsigned flags, int priority);
void remove_stream(struct stream *stream);

int64_t ready(struct stream *stream);      /* when work that is queued now may begin */
int64_t end_before(struct stream *stream); /* when the work before ends */

/* A stream for the nodes of a graph, whose next work begins no sooner than `from`; one a device. */
struct stream *open_branch(struct stream *parent, int device, int64_t from, enum predecessor predecessor);

struct event *known_event(CUevent handle);
void record_event(struct event *event, struct stream *stream);
void settle_everywhere(struct event *event); /* an event that somebody looks at, or that goes, does not move any more */
CUresult poll_until(int64_t at);
