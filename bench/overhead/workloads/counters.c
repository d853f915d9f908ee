/* Atomic counters: shared additions, a compare-and-swap maximum, published pairs and counters of one's own.
 *
 * SIZE is the number of rounds. Lock-free by design: every shared word is atomic. Verified: totals and maximum are exact.
 */
#include "workload.h"

#include <stdatomic.h>

enum { SHARED = 8, LINE = 64 };

struct own_counter {
    _Alignas(LINE) atomic_ulong value;
};

struct counters {
    long rounds;
    struct own_counter shared[SHARED];
    struct own_counter *own;
    _Alignas(LINE) atomic_ulong maximum;
    _Alignas(LINE) atomic_ulong published;
    _Alignas(LINE) atomic_int torn;
};

static void raise_maximum(struct counters *counters, unsigned long candidate)
{
    unsigned long seen = atomic_load_explicit(&counters->maximum, memory_order_relaxed);
    while (seen < candidate && !atomic_compare_exchange_weak_explicit(&counters->maximum, &seen, candidate,
                                                                     memory_order_acq_rel, memory_order_relaxed))
        ;
}

/* Both halves of a published word must agree: one atomic word is never torn. */
static void publish_and_check(struct counters *counters, unsigned value)
{
    unsigned long seen = atomic_load_explicit(&counters->published, memory_order_acquire);
    if ((unsigned)seen != (unsigned)(seen >> 32))
        atomic_store(&counters->torn, 1);
    if (value % 16 == 0)
        atomic_store_explicit(&counters->published, (unsigned long)value << 32 | value, memory_order_release);
}

static void count_round(struct counters *counters, atomic_ulong *own, long round)
{
    uint64_t drawn = scramble(round);
    atomic_fetch_add_explicit(&counters->shared[drawn % SHARED].value, drawn % 1000, memory_order_relaxed);
    atomic_fetch_add_explicit(own, 1, memory_order_relaxed);
    raise_maximum(counters, drawn >> 8);
    publish_and_check(counters, (unsigned)drawn);
}

static void count(int index, int threads, void *shared)
{
    struct counters *counters = shared;
    long end = share_start(counters->rounds, index + 1, threads);
    for (long round = share_start(counters->rounds, index, threads); round < end; round++)
        count_round(counters, &counters->own[index].value, round);
}

static void verify(struct counters *counters, int threads)
{
    unsigned long maximum = 0, added = 0, rounds = 0;
    for (long round = 0; round < counters->rounds; round++) {
        uint64_t drawn = scramble(round);
        added += drawn % 1000;
        maximum = drawn >> 8 > maximum ? drawn >> 8 : maximum;
    }
    for (int at = 0; at < SHARED; at++)
        added -= atomic_load(&counters->shared[at].value);
    for (int index = 0; index < threads; index++)
        rounds += atomic_load(&counters->own[index].value);
    require(added == 0, "an addition was lost");
    require(rounds == (unsigned long)counters->rounds, "a round was lost");
    require(maximum == atomic_load(&counters->maximum), "the maximum is wrong");
    require(!atomic_load(&counters->torn), "a published word was torn");
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    static struct counters counters;
    counters.rounds = given.size;
    counters.own = aligned_alloc(LINE, sizeof(struct own_counter) * given.threads);
    require(counters.own != NULL, "out of memory");
    for (int index = 0; index < given.threads; index++)
        atomic_init(&counters.own[index].value, 0);

    run_on_threads(given.threads, count, &counters);

    verify(&counters, given.threads);
    uint64_t checksum = atomic_load(&counters.maximum);
    for (int at = 0; at < SHARED; at++)
        checksum = mix_into(checksum, atomic_load(&counters.shared[at].value));
    return print_checksum(checksum);
}
