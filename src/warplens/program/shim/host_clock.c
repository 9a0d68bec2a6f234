/* Host clocks: clock_gettime, gettimeofday, time, clock, and the waits that end at a time of these clocks. */
#define _GNU_SOURCE
#include "host_clock.h"
#include "clock.h"
#include "cuda_types.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

static int shown; /* whether clocks are virtual; they are real until the GPU is first used */
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static clock_t (*real_clock)(void);

/* The C library's own function; conditions changed with version 2.3.2, and a plain search may find the older one. */
static void *own(const char *name) {
    void *found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
    return found ? found : dlsym(RTLD_NEXT, name);
}

static int64_t read_clock(clockid_t id) {
    struct timespec time = {0, 0};
    if (!real_clock_gettime)
        real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    if (real_clock_gettime)
        real_clock_gettime(id, &time);
    else
        syscall(SYS_clock_gettime, id, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

int64_t real_ns(void) {
    return read_clock(CLOCK_MONOTONIC);
}

void show_virtual_clock(int on) {
    shown = on;
}

static int64_t shift(void) {
    return shown ? clock_shift() : 0;
}

static struct timespec split(int64_t ns) {
    return (struct timespec){ns / SECOND, ns % SECOND};
}

EXPORT int clock_gettime(clockid_t id, struct timespec *time) {
    if (!shown || id == CLOCK_PROCESS_CPUTIME_ID || id == CLOCK_THREAD_CPUTIME_ID || id < 0) {
        if (!real_clock_gettime)
            real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
        return real_clock_gettime(id, time);
    }
    *time = split(read_clock(id) + shift());
    return 0;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    int64_t ns = read_clock(CLOCK_REALTIME) + shift();
    *time = (struct timeval){ns / SECOND, ns % SECOND / 1000};
    return 0;
}

EXPORT time_t time(time_t *place) {
    time_t seconds = (read_clock(CLOCK_REALTIME) + shift()) / SECOND;
    if (place)
        *place = seconds;
    return seconds;
}

/* Processor time: waiting for a GPU keeps a processor busy, as the driver polls by default. */
EXPORT clock_t clock(void) {
    static int64_t begun;
    if (!real_clock)
        real_clock = dlsym(RTLD_NEXT, "clock");
    if (!shown)
        return real_clock();
    if (!begun)
        begun = now() - real_clock() * (SECOND / CLOCKS_PER_SEC);
    return (now() - begun) / (SECOND / CLOCKS_PER_SEC);
}

/* Waits until a time of a clock that the program has read. */

static struct timespec to_real(const struct timespec *deadline) {
    int64_t ns = deadline->tv_sec * SECOND + deadline->tv_nsec - shift();
    return split(ns > 0 ? ns : 0);
}

EXPORT int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
    struct timespec real = to_real(deadline);
    if (!next)
        next = own("pthread_cond_timedwait");
    return next(condition, mutex, &real);
}

EXPORT int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t id,
                                  const struct timespec *deadline) {
    static int (*next)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
    struct timespec real = to_real(deadline);
    if (!next)
        next = dlsym(RTLD_NEXT, "pthread_cond_clockwait");
    return next(condition, mutex, id, &real);
}

EXPORT int sem_timedwait(sem_t *semaphore, const struct timespec *deadline) {
    static int (*next)(sem_t *, const struct timespec *);
    struct timespec real = to_real(deadline);
    if (!next)
        next = dlsym(RTLD_NEXT, "sem_timedwait");
    return next(semaphore, &real);
}

EXPORT int sem_clockwait(sem_t *semaphore, clockid_t id, const struct timespec *deadline) {
    static int (*next)(sem_t *, clockid_t, const struct timespec *);
    struct timespec real = to_real(deadline);
    if (!next)
        next = dlsym(RTLD_NEXT, "sem_clockwait");
    return next(semaphore, id, &real);
}
