/* What every workload shares: arguments, threads, barriers of one size, random numbers, and one line of output.
 *
 * A workload is called as `workload THREADS SIZE`. It verifies its own result, prints one checksum that depends on SIZE
 * only (never on THREADS, the interleaving or the instrumentation), and exits with 0.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    int threads;
    long size;
};

static inline void fail(const char *why)
{
    fprintf(stderr, "workload failed: %s\n", why);
    exit(1);
}

static inline void require(int holds, const char *what)
{
    if (!holds)
        fail(what);
}

static inline struct arguments read_arguments(int argc, char **argv)
{
    require(argc == 3, "usage: workload THREADS SIZE");
    struct arguments given = {atoi(argv[1]), atol(argv[2])};
    require(given.threads >= 1 && given.size >= 1, "THREADS and SIZE must be positive");
    return given;
}

static inline void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    require(memory != NULL, "out of memory");
    return memory;
}

/* The work of one thread: `index` counts from 0, `threads` is how many run, `shared` is what all of them see. */
typedef void (*thread_work)(int index, int threads, void *shared);

struct thread_start {
    thread_work work;
    int index;
    int threads;
    void *shared;
};

static inline void *enter_thread(void *start)
{
    struct thread_start *own = (struct thread_start *)start;
    own->work(own->index, own->threads, own->shared);
    return NULL;
}

/* Runs `work` on that many new threads and waits for all of them. */
static inline void run_on_threads(int threads, thread_work work, void *shared)
{
    pthread_t *handles = (pthread_t *)allocate(sizeof(pthread_t) * threads);
    struct thread_start *starts = (struct thread_start *)allocate(sizeof(struct thread_start) * threads);
    for (int index = 0; index < threads; index++) {
        starts[index].work = work;
        starts[index].index = index;
        starts[index].threads = threads;
        starts[index].shared = shared;
        require(pthread_create(&handles[index], NULL, enter_thread, &starts[index]) == 0, "pthread_create");
    }
    for (int index = 0; index < threads; index++)
        pthread_join(handles[index], NULL);
    free(starts);
    free(handles);
}

/* The first item of share `index` when `items` are dealt to `threads`; the share ends where the next begins. */
static inline long share_start(long items, int index, int threads)
{
    return items * index / threads;
}

/* splitmix64: every index of a sequence can be drawn directly, so a share of the work needs no state of its neighbours. */
static inline uint64_t scramble(uint64_t value)
{
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/* A number in [0, 1) drawn from `seed`. */
static inline double unit_random(uint64_t seed)
{
    return (double)(scramble(seed) >> 11) / 9007199254740992.0;
}

static inline uint64_t mix_into(uint64_t checksum, uint64_t value)
{
    return (checksum ^ value) * 0x100000001b3u;
}

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline int print_checksum(uint64_t checksum)
{
    printf("checksum %016llx\n", (unsigned long long)checksum);
    return 0;
}

#endif
