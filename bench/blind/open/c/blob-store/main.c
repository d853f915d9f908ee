/* Store of shared blobs: each key has one reference-counted blob that lives
 * from its first user to its last. Blobs come from a slab. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define USERS  3
#define ROUNDS 150
#define KEYS   10
#define SLAB   (KEYS + USERS)

struct blob {
    atomic_int refs;
    int key;
    int linked;
    uint32_t content;
    struct blob *free_next;
};

static struct {
    pthread_mutex_t lock;
    struct blob slab[SLAB];
    struct blob *by_key[KEYS];
    struct blob *free;
    unsigned long created, released;
} store = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_ulong reads;

static uint32_t render(uint32_t v, int rounds)
{
    for (int i = 0; i < rounds; i++)
        v = v * 747796405u + 2891336453u + (v >> 16);
    return v;
}

static struct blob *blob_get(int key)
{
    pthread_mutex_lock(&store.lock);
    struct blob *b = store.by_key[key]; /* BUG: c */
    if (b) {
        atomic_fetch_add(&b->refs, 1); /* BUG: d */
    } else {
        b = store.free;
        if (!b)
            abort();
        store.free = b->free_next;
        b->key = key;
        b->linked = 1;
        b->content = (uint32_t)key * 1000003u;
        atomic_store(&b->refs, 1);
        store.by_key[key] = b;
        store.created++;
    }
    pthread_mutex_unlock(&store.lock);
    return b;
}

/* call with the lock held */
static void blob_release(struct blob *b)
{
    if (!b->linked) {
        fprintf(stderr, "blob released twice\n");
        abort();
    }
    store.by_key[b->key] = NULL; /* BUG: e */
    b->linked = 0; /* BUG: f */
    b->free_next = store.free;
    store.free = b;
    store.released++;
}

static void blob_put(struct blob *b)
{
    if (atomic_fetch_sub(&b->refs, 1) != 1) /* BUG: a */
        return;
    pthread_mutex_lock(&store.lock); /* BUG: b */
#ifdef FIXED
    if (b->linked && atomic_load(&b->refs) == 0)
        blob_release(b);
#else
    blob_release(b); /* BUG: g */
#endif
    pthread_mutex_unlock(&store.lock);
}

static uint32_t blob_read(struct blob *b, int key)
{
    pthread_mutex_lock(&store.lock);
    if (!b->linked || b->key != key) {
        fprintf(stderr, "blob released twice or while in use\n");
        abort();
    }
    uint32_t v = b->content;
    pthread_mutex_unlock(&store.lock);
    atomic_fetch_add(&reads, 1);
    return v;
}

static void *user_main(void *arg)
{
    uint32_t rng = 97u * (uint32_t)(uintptr_t)arg, x = rng;
    for (int i = 0; i < ROUNDS; i++) {
        rng = rng * 1103515245u + 12345u;
        x = render(x, 8000);
        int key = (int)((rng >> 16) % KEYS);
        struct blob *b = blob_get(key);
        x = render(x ^ blob_read(b, key), 2500);
        blob_put(b);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[USERS];

    for (int i = 0; i < SLAB; i++) {
        store.slab[i].free_next = store.free;
        store.free = &store.slab[i];
    }
    for (uintptr_t i = 0; i < USERS; i++)
        if (pthread_create(&t[i], NULL, user_main, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < USERS; i++)
        pthread_join(t[i], NULL);

    if (atomic_load(&reads) != USERS * ROUNDS || store.created != store.released) {
        fprintf(stderr, "store out of balance\n");
        return 1;
    }
    return 0;
}
