/* Protocol: connection to the server, requests, notices. */
#define _GNU_SOURCE
#include "device.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MOST_NOTICES = 1024 };

static int connection = -1, arena_descriptor = -1;
static struct notice notices[MOST_NOTICES];
static unsigned notice_count;

static void lose(void) {
    if (connection >= 0) {
        close(connection);
        fputs("warplens: the connection to `warplens run` is closed; CUDA calls fail from here on\n", stderr);
    }
    connection = -1;
}

static int put(const void *data, size_t bytes) {
    for (const char *at = data; bytes;) {
        ssize_t sent = send(connection, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return 0;
        at += sent, bytes -= sent;
    }
    return 1;
}

static int get(void *data, size_t bytes) {
    for (char *at = data; bytes;) {
        ssize_t received = recv(connection, at, bytes, 0);
        if (received < 0 && errno == EINTR)
            continue;
        if (received <= 0)
            return 0;
        at += received, bytes -= received;
    }
    return 1;
}

/* The arena's file comes with the first byte of the greeting, mapped at the same address in both processes. */
static int receive_arena(void) {
    char byte, control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(connection, &message, MSG_CMSG_CLOEXEC) != 1)
        return -1;
    struct cmsghdr *found = CMSG_FIRSTHDR(&message);
    int file = -1;
    if (found && found->cmsg_type == SCM_RIGHTS)
        memcpy(&file, CMSG_DATA(found), sizeof file);
    return file;
}

static void forget_parent(void) { /* a forked child has its parent's connection, which answers only the parent */
    if (connection >= 0)
        close(connection);
    connection = -1;
    notice_count = 0;
}

CUresult connect_server(struct greeting *greeting) {
    const char *name = getenv("WARPLENS_SERVER"); /* of an abstract socket */
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!name || strlen(name) + 1 > sizeof address.sun_path)
        return NO_DEVICE;
    memcpy(address.sun_path + 1, name, strlen(name));
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    uint32_t head[2] = {HELLO, 4}, process = getpid();
    socklen_t length = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
    if (connect(connection, (struct sockaddr *)&address, length) || !put(head, sizeof head) || !put(&process, 4)) {
        fputs("warplens: `warplens run`, which started this program, does not answer\n", stderr);
        close(connection);
        connection = -1;
        return NO_DEVICE;
    }
    int file = receive_arena();
    if (file < 0 || !get(head, sizeof head) || head[1] != sizeof *greeting || !get(greeting, sizeof *greeting))
        return NO_DEVICE;
    void *wanted = (void *)greeting->arena;
    void *arena = mmap(wanted, greeting->arena_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
    arena_descriptor = file;
    if (arena != wanted) {
        fprintf(stderr, "warplens: no room for the GPU's memory at %p: lift the limit on address space (ulimit -v)\n", wanted);
        return OUT_OF_MEMORY;
    }
    pthread_atfork(NULL, NULL, forget_parent);
    return SUCCESS;
}

int arena_file(void) {
    return arena_descriptor;
}

void flush_notices(void) {
    uint32_t head[2] = {NOTICES, notice_count * sizeof(struct notice)};
    if (notice_count && connection >= 0 && !(put(head, sizeof head) && put(notices, head[1])))
        lose();
    notice_count = 0;
}

__attribute__((destructor)) static void flush_last(void) {
    report_unseen_errors();
    flush_notices();
}

void notify(enum notice_kind kind, uint32_t detail, uint64_t address, uint64_t bytes, int64_t more) {
    notices[notice_count++] = (struct notice){kind, detail, address, bytes, more};
    if (notice_count == MOST_NOTICES)
        flush_notices();
}

CUresult ask(enum operation operation, const void *head, size_t head_bytes, const void *tail, size_t tail_bytes,
             void *answer, size_t answer_bytes, struct rest *rest) {
    flush_notices();
    uint32_t words[2] = {operation, head_bytes + tail_bytes};
    if (connection < 0)
        return UNKNOWN;
    if (!(put(words, sizeof words) && put(head, head_bytes) && put(tail, tail_bytes) && get(words, sizeof words))) {
        lose();
        return UNKNOWN;
    }
    size_t more = words[1] > answer_bytes ? words[1] - answer_bytes : 0;
    char *data = calloc(1, more + 1);
    if (!get(answer, words[1] - more) || !get(data, more)) {
        free(data);
        lose();
        return UNKNOWN;
    }
    if (rest)
        *rest = (struct rest){data, more};
    else
        free(data);
    return words[0];
}

void report_error(enum error_kind kind, const char *call, CUresult error) {
    uint32_t words[2] = {kind, error}, head[2] = {API_ERROR, sizeof words + strlen(call)};
    flush_notices();
    if (connection >= 0 && !(put(head, sizeof head) && put(words, sizeof words) && put(call, strlen(call))))
        lose();
}

void report_missing(const char *name) {
    static const char *known[256];
    static unsigned count;
    for (unsigned n = 0; n < count; n++)
        if (!strcmp(known[n], name))
            return;
    if (count < 256)
        known[count++] = name;
    uint32_t head[2] = {MISSING, strlen(name)};
    flush_notices();
    if (connection >= 0 && !(put(head, sizeof head) && put(name, head[1])))
        lose();
}
