/* Codec registry split into families. The table of a family is only built when
 * somebody needs it; afterwards codecs are added to it and looked up in it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FAMILIES 12
#define LOADERS  3
#define PER_TAB  16

struct codec { unsigned id; unsigned gain; };

struct codec_table {
    pthread_mutex_t lock;
    unsigned used;
    struct codec codec[PER_TAB];
    unsigned char quant[256];
};

static struct {
    pthread_mutex_t lock;
    _Atomic(struct codec_table *) table[FAMILIES];
    unsigned built;
} registry = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_uint missing;
static atomic_ulong lookups;

static struct codec_table *table_build(unsigned family)
{
    struct codec_table *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    for (unsigned i = 0; i < 256; i++)
        t->quant[i] = (unsigned char)(i * (family + 3) / 7);
    return t;
}

static struct codec_table *family_table(unsigned family)
{
    struct codec_table *t = atomic_load_explicit(&registry.table[family], memory_order_acquire); /* BUG: a */
    if (t == NULL) {
#ifdef FIXED
        pthread_mutex_lock(&registry.lock);
        t = atomic_load_explicit(&registry.table[family], memory_order_acquire);
        if (t == NULL) {
            t = table_build(family);
            atomic_store_explicit(&registry.table[family], t, memory_order_release);
            registry.built++;
        }
        pthread_mutex_unlock(&registry.lock);
#else
        pthread_mutex_lock(&registry.lock);
        t = table_build(family);
        atomic_store_explicit(&registry.table[family], t, memory_order_release); /* BUG: b */
        registry.built++;
        pthread_mutex_unlock(&registry.lock);
#endif
    }
    return t;
}

static void codec_add(unsigned family, unsigned id)
{
    struct codec_table *t = family_table(family); /* BUG: c */
    pthread_mutex_lock(&t->lock);
    t->codec[t->used].id = id;
    t->codec[t->used].gain = t->quant[id & 0xff];
    t->used++;
    pthread_mutex_unlock(&t->lock);
}

static bool codec_find(unsigned family, unsigned id)
{
    bool found = false;
    struct codec_table *t = family_table(family); /* BUG: d */
    pthread_mutex_lock(&t->lock);
    for (unsigned i = 0; i < t->used; i++)
        if (t->codec[i].id == id)
            found = true;
    pthread_mutex_unlock(&t->lock);
    atomic_fetch_add(&lookups, 1);
    return found;
}

static unsigned probe_hardware(unsigned seed)
{
    unsigned acc = seed;
    for (unsigned i = 0; i < 70000 + (seed & 0x3fff); i++)
        acc = acc * 22695477u + (acc >> 19) + 1;
    return acc;
}

static void *loader(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    unsigned x = id * 131071u;

    for (unsigned i = 0; i < FAMILIES; i++) {
        unsigned family = (i * 5 + id / 2) % FAMILIES;
        x = probe_hardware(x + i);
        codec_add(family, id * 1000 + family);
    }
    for (unsigned f = 0; f < FAMILIES; f++)
        if (!codec_find(f, id * 1000 + f))
            atomic_fetch_add(&missing, 1);
    return NULL;
}

int main(void)
{
    pthread_t t[LOADERS];

    for (uintptr_t i = 0; i < LOADERS; i++)
        if (pthread_create(&t[i], NULL, loader, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < LOADERS; i++)
        pthread_join(t[i], NULL);

    if (atomic_load(&lookups) != LOADERS * FAMILIES) {
        fprintf(stderr, "lookups not counted\n");
        return 1;
    }
    if (atomic_load(&missing)) {
        fprintf(stderr, "codec vanished: %u\n", atomic_load(&missing));
        abort();
    }
    for (int f = 0; f < FAMILIES; f++)
        free(atomic_load(&registry.table[f]));
    return 0;
}
