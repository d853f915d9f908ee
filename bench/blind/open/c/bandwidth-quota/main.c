/* Bandwidth quota shared by several uploaders: each transfer reserves units
 * from a common budget and gives them back when it is done. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define UPLOADERS 4
#define TRANSFERS 110
#define BUDGET    6

struct quota {
    atomic_long available;
    atomic_ulong denied;
};

struct usage {
    pthread_mutex_t lock;
    long in_use;
    long peak;
    unsigned long transfers;
    uint64_t digest;
};

static struct quota quota = { .available = BUDGET };
static struct usage usage = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint64_t checksum(uint64_t seed, int rounds)
{
    uint64_t h = 1469598103934665603ull ^ seed;
    for (int i = 0; i < rounds; i++) {
        h ^= (uint64_t)i & 0xff;
        h *= 1099511628211ull;
    }
    return h;
}

static bool quota_reserve(struct quota *q, long units)
{
#ifdef FIXED
    long have = atomic_load(&q->available);
    while (have >= units) {
        if (atomic_compare_exchange_weak(&q->available, &have, have - units))
            return true;
    }
    atomic_fetch_add(&q->denied, 1);
    return false;
#else
    if (atomic_load(&q->available) < units) { /* BUG: a */
        atomic_fetch_add(&q->denied, 1);
        return false;
    }
    atomic_fetch_sub(&q->available, units); /* BUG: b */
    return true;
#endif
}

static void quota_release(struct quota *q, long units)
{
    atomic_fetch_add(&q->available, units);
}

static void usage_begin(long units)
{
    pthread_mutex_lock(&usage.lock);
    usage.in_use += units;
    if (usage.in_use > usage.peak)
        usage.peak = usage.in_use;
    pthread_mutex_unlock(&usage.lock);
}

static void usage_end(long units, uint64_t digest)
{
    pthread_mutex_lock(&usage.lock);
    usage.in_use -= units;
    usage.transfers++;
    usage.digest ^= digest;
    pthread_mutex_unlock(&usage.lock);
}

static void *uploader(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    unsigned rng = id * 2654435761u + 17;

    for (int i = 0; i < TRANSFERS; i++) {
        rng = rng * 1664525u + 1013904223u;
        long units = 3 + (long)((rng >> 24) % 3);
        uint64_t prepared = checksum(rng, 9000 + (int)((rng >> 16) % 6000));

        if (!quota_reserve(&quota, units))
            continue;
        usage_begin(units);
        uint64_t sent = checksum(prepared, 4000 + (int)((rng >> 12) % 4000));
        usage_end(units, sent);
        quota_release(&quota, units);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[UPLOADERS];

    for (uintptr_t i = 0; i < UPLOADERS; i++)
        if (pthread_create(&t[i], NULL, uploader, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < UPLOADERS; i++)
        pthread_join(t[i], NULL);

    if (usage.transfers + atomic_load(&quota.denied) != UPLOADERS * TRANSFERS) {
        fprintf(stderr, "transfer accounting broken\n");
        return 1;
    }
    if (usage.peak > BUDGET) {
        fprintf(stderr, "quota exceeded: peak %ld of %d\n", usage.peak, BUDGET);
        return 1;
    }
    return 0;
}
