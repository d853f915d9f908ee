/* Read-through cache in front of a profile store. Readers fill the cache on a
 * miss; editors change the store and drop the cached profile. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define READERS  2
#define EDITORS  2
#define PROFILES 24
#define READS    420
#define EDITS    160

struct profile { unsigned revision; unsigned rank; };

static struct {
    pthread_rwlock_t lock;
    struct profile row[PROFILES];
    unsigned long edits;
} store = { .lock = PTHREAD_RWLOCK_INITIALIZER };

struct entry {
    bool valid;
    unsigned drops;
    struct profile copy;
};

static struct {
    pthread_mutex_t lock;
    struct entry entry[PROFILES];
    unsigned long hits, fills;
} cache = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned shuffle(unsigned v, int n)
{
    while (n-- > 0)
        v = (v ^ 61u ^ (v >> 16)) * 9u + 0x27d4eb2du;
    return v;
}

static bool cache_get(unsigned id, struct profile *out, unsigned *drops)
{
    pthread_mutex_lock(&cache.lock);
    struct entry *e = &cache.entry[id];
    bool hit = e->valid;
    if (hit) {
        *out = e->copy;
        cache.hits++;
    }
    *drops = e->drops;
    pthread_mutex_unlock(&cache.lock);
    return hit;
}

static void cache_put(unsigned id, struct profile p, unsigned drops)
{
    pthread_mutex_lock(&cache.lock);
    struct entry *e = &cache.entry[id];
#ifdef FIXED
    if (e->drops == drops)
#else
    (void)drops;
#endif
    {
        e->copy = p; /* BUG: b */
        e->valid = true; /* BUG: e */
    }
    cache.fills++;
    pthread_mutex_unlock(&cache.lock);
}

static void cache_drop(unsigned id)
{
    pthread_mutex_lock(&cache.lock);
    cache.entry[id].valid = false; /* BUG: d */
    cache.entry[id].drops++;
    pthread_mutex_unlock(&cache.lock);
}

static struct profile profile_read(unsigned id)
{
    struct profile p;
    unsigned drops;

    if (cache_get(id, &p, &drops))
        return p;
    pthread_rwlock_rdlock(&store.lock);
    p = store.row[id]; /* BUG: a */
    pthread_rwlock_unlock(&store.lock);
    cache_put(id, p, drops); /* BUG: f */
    return p;
}

static void profile_edit(unsigned id, unsigned rank)
{
    pthread_rwlock_wrlock(&store.lock);
    store.row[id].revision++; /* BUG: c */
    store.row[id].rank = rank; /* BUG: g */
    store.edits++;
    pthread_rwlock_unlock(&store.lock);
    cache_drop(id); /* BUG: h */
}

static void *reader(void *arg)
{
    unsigned rng = 7u + (unsigned)(uintptr_t)arg;
    unsigned long ranks = 0;
    for (int i = 0; i < READS; i++) {
        rng = rng * 1664525u + 1013904223u;
        ranks += profile_read((rng >> 16) % PROFILES).rank ^ shuffle(rng, 2500);
    }
    return (void *)ranks;
}

static void *editor(void *arg)
{
    unsigned rng = 1000u + (unsigned)(uintptr_t)arg;
    for (int i = 0; i < EDITS; i++) {
        rng = rng * 1664525u + 1013904223u;
        profile_edit((rng >> 16) % PROFILES, shuffle(rng, 6500) & 0xff);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[READERS + EDITORS];

    for (uintptr_t i = 0; i < READERS + EDITORS; i++)
        if (pthread_create(&t[i], NULL, i < READERS ? reader : editor, (void *)i) != 0)
            abort();
    for (int i = 0; i < READERS + EDITORS; i++)
        pthread_join(t[i], NULL);

    if (store.edits != EDITORS * EDITS || cache.hits + cache.fills != READERS * READS) {
        fprintf(stderr, "bookkeeping wrong\n");
        return 1;
    }
    for (unsigned i = 0; i < PROFILES; i++) {
        const struct entry *e = &cache.entry[i];
        if (e->valid && e->copy.revision != store.row[i].revision) {
            fprintf(stderr, "stale profile %u: revision %u, store has %u\n",
                    i, e->copy.revision, store.row[i].revision);
            return 1;
        }
    }
    return 0;
}
