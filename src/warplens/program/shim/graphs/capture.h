/* Capture: work that is queued in a stream becomes nodes of a graph. */
#pragma once

#include "graph.h"

enum capture_mode { GLOBAL_CAPTURE, THREAD_CAPTURE, RELAXED_CAPTURE }; /* cudaStreamCaptureMode */

/* Whether a stream is captured, so that its work goes to capture_work(); an error if it may not take work now. */
CUresult check_capture(CUstream handle, int *captured);
CUresult capture_work(CUstream handle, const struct work *work);
CUresult capture_record(struct event *event, struct stream *stream);
CUresult capture_wait(struct stream *stream, struct event *event);
void forget_capture(const struct capture *capture); /* of events that were recorded in it */
void invalidate(struct capture *capture);
CUresult forbid_in_capture(void); /* of calls that wait, or allocate, while another stream is captured */
CUresult forbid_captured(struct stream *stream); /* of calls that look at a stream */
