/* Route cache behind a reader-writer lock: look-ups share the lock, and a miss
 * is resolved and inserted. Every destination has at most one route. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define RESOLVERS 4
#define LOOKUPS   120
#define DESTS     700
#define BUCKETS   32

struct route {
    unsigned dest;
    unsigned gateway;
    unsigned uses;
    struct route *next;
};

struct cache {
    pthread_rwlock_t lock;
    struct route *bucket[BUCKETS];
    unsigned size;
};

static struct cache *cache;
static unsigned long hits, misses;

static unsigned metric(unsigned v, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        v = (v * 2654435761u) ^ (v >> 15) ^ i;
    return v;
}

static struct route *find(struct cache *c, unsigned dest)
{
    struct route *r = c->bucket[dest % BUCKETS]; /* BUG: a */
    while (r && r->dest != dest) /* BUG: b */
        r = r->next;
    return r;
}

static unsigned insert(struct cache *c, unsigned dest, unsigned gateway)
{
    struct route *r = malloc(sizeof *r);
    *r = (struct route){ dest, gateway, 1, c->bucket[dest % BUCKETS] };
    c->bucket[dest % BUCKETS] = r; /* BUG: c */
    c->size++;
    return gateway;
}

static unsigned route_for(struct cache *c, unsigned dest)
{
    unsigned gateway;

    pthread_rwlock_rdlock(&c->lock);
    struct route *r = find(c, dest); /* BUG: d */
    if (r) {
        __atomic_fetch_add(&r->uses, 1, __ATOMIC_RELAXED);
        gateway = r->gateway;
        pthread_rwlock_unlock(&c->lock);
        __atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
        return gateway;
    }
    pthread_rwlock_unlock(&c->lock);

    gateway = dest ^ 0x0a000000u;
    pthread_rwlock_wrlock(&c->lock); /* BUG: f */
#ifdef FIXED
    r = find(c, dest);
    if (r)
        r->uses++;
    else
        insert(c, dest, gateway);
#else
    insert(c, dest, gateway); /* BUG: e */
#endif
    pthread_rwlock_unlock(&c->lock);
    __atomic_fetch_add(&misses, 1, __ATOMIC_RELAXED);
    return gateway;
}

static void *resolver(void *arg)
{
    unsigned rng = 52711u * (unsigned)(uintptr_t)arg;
    unsigned long bad = 0;
    for (int i = 0; i < LOOKUPS; i++) {
        rng = rng * 1664525u + 1013904223u;
        unsigned dest = metric(rng, 6000 + (rng >> 20)) % DESTS;
        if (route_for(cache, dest) != (dest ^ 0x0a000000u))
            bad++;
    }
    return (void *)bad;
}

static int count_duplicates(const struct cache *c)
{
    int dups = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (struct route *r = c->bucket[b]; r; r = r->next)
            for (struct route *o = r->next; o; o = o->next)
                dups += o->dest == r->dest;
    return dups;
}

int main(void)
{
    pthread_t t[RESOLVERS];
    unsigned long bad = 0;

    cache = calloc(1, sizeof *cache);
    pthread_rwlock_init(&cache->lock, NULL);
    for (uintptr_t i = 0; i < RESOLVERS; i++)
        if (pthread_create(&t[i], NULL, resolver, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < RESOLVERS; i++) {
        void *ret;
        pthread_join(t[i], &ret);
        bad += (unsigned long)ret;
    }
    if (bad || hits + misses != RESOLVERS * LOOKUPS) {
        fprintf(stderr, "bad lookups\n");
        return 1;
    }
    int dups = count_duplicates(cache);
    if (dups) {
        fprintf(stderr, "duplicate routes: %d of %u\n", dups, cache->size);
        return 1;
    }
    return 0;
}
