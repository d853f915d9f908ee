// The frame of a random program: see tests/script/mod.rs, which fills in the comments in capitals.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define NOTHING UINT64_MAX
#define UNWATCHED __attribute__((noinline, no_sanitize("thread")))

/* DEFINITIONS */

static struct slots memory[ROUNDS];
static uint64_t founds[ROUNDS][OPERATIONS], lefts[ROUNDS][OPERATIONS];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int arrived;

UNWATCHED static void note(int round, int operation, uint64_t found, uint64_t left) {
    founds[round][operation] = found;
    lefts[round][operation] = left;
}

// The threads begin each round together.
UNWATCHED static void gather(int round) {
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    for (int tries = 0; __atomic_load_n(&arrived, __ATOMIC_SEQ_CST) < THREADS * (round + 1); tries++)
        if (tries > 200) sched_yield();
}

/* BODIES */

static void rounds_of(void (*body)(int)) {
    for (int round = 0; round < ROUNDS; round++) {
        gather(round);
        body(round);
    }
}

static void *run_1(void *unused) { rounds_of(thread_1); return unused; }
#if THREADS > 1
static void *run_2(void *unused) { rounds_of(thread_2); return unused; }
#endif
#if THREADS > 2
static void *run_3(void *unused) { rounds_of(thread_3); return unused; }
#endif
#if THREADS > 3
static void *run_4(void *unused) { rounds_of(thread_4); return unused; }
#endif

UNWATCHED static void say(int round, int operation) {
    uint64_t found = founds[round][operation], left = lefts[round][operation];
    printf("%d %d ", round, operation);
    if (found == NOTHING) printf("- "); else printf("%ju ", (uintmax_t)found);
    if (left == NOTHING) printf("-\n"); else printf("%ju\n", (uintmax_t)left);
}

int main(void) {
    void *(*runs[])(void *) = {
        run_1,
#if THREADS > 1
        run_2,
#endif
#if THREADS > 2
        run_3,
#endif
#if THREADS > 3
        run_4,
#endif
    };
    pthread_t threads[THREADS];
    for (int round = 0; round < ROUNDS; round++) prepare(round);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], 0, runs[i], 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], 0);
    for (int round = 0; round < ROUNDS; round++) look(round);
    printf("memory %ju %zu\n", (uintmax_t)(uintptr_t)memory, sizeof memory[0]);
    /* PLACES */
    for (int round = 0; round < ROUNDS; round++)
        for (int operation = 0; operation < OPERATIONS; operation++) say(round, operation);
    return 0;
}
