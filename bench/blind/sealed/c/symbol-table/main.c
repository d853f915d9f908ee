/* Symbol table of a small tracer: names are interned into a growing array and
 * every thread counts how often it met each symbol. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRACERS 3
#define EVENTS  160
#define NAMES   120

struct symbol {
    char name[24];
    uint32_t hash;
    unsigned long hits;
};

struct symtab {
    pthread_mutex_t lock;
    struct symbol *sym;
    size_t len, cap;
    unsigned long lookups;
};

static struct symtab *tab;

static uint32_t hash_name(const char *s)
{
    uint32_t h = 5381;
    for (int round = 0; round < 250; round++)
        for (const char *p = s; *p; p++)
            h = h * 33 ^ (unsigned char)*p;
    return h;
}

static struct symtab *symtab_new(void)
{
    struct symtab *t = calloc(1, sizeof *t);
    pthread_mutex_init(&t->lock, NULL);
    t->cap = 4;
    t->sym = calloc(t->cap, sizeof *t->sym);
    return t;
}

/* call with the lock held */
static void symtab_grow(struct symtab *t)
{
    struct symbol *bigger = calloc(t->cap * 2, sizeof *bigger);
    memcpy(bigger, t->sym, t->len * sizeof *bigger); /* BUG: c */
    free(t->sym); /* BUG: d */
    t->sym = bigger; /* BUG: e */
    t->cap *= 2;
}

/* call with the lock held */
static struct symbol *symtab_intern(struct symtab *t, const char *name, uint32_t hash)
{
    t->lookups++;
    for (size_t i = 0; i < t->len; i++)
        if (t->sym[i].hash == hash && strcmp(t->sym[i].name, name) == 0)
            return &t->sym[i]; /* BUG: f */
    if (t->len == t->cap)
        symtab_grow(t);
    struct symbol *s = &t->sym[t->len++];
    snprintf(s->name, sizeof s->name, "%s", name);
    s->hash = hash;
    return s;
}

static void symtab_hit(struct symtab *t, const char *name)
{
    uint32_t hash = hash_name(name);

    pthread_mutex_lock(&t->lock);
    struct symbol *s = symtab_intern(t, name, hash); /* BUG: a */
#ifdef FIXED
    __atomic_fetch_add(&s->hits, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&t->lock);
#else
    pthread_mutex_unlock(&t->lock);
    __atomic_fetch_add(&s->hits, 1, __ATOMIC_RELAXED); /* BUG: b */
#endif
}

static void *tracer(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    unsigned rng = 0x9e3779b9u * id;
    char name[24];

    for (unsigned i = 0; i < EVENTS; i++) {
        rng = rng * 1103515245u + 12345u;
        unsigned span = 4 + i * NAMES / EVENTS;
        snprintf(name, sizeof name, "fn_%u_%x", (rng >> 16) % span, (rng >> 16) % span * 77);
        symtab_hit(tab, name);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[TRACERS];
    unsigned long total = 0;

    tab = symtab_new();
    for (uintptr_t i = 0; i < TRACERS; i++)
        if (pthread_create(&t[i], NULL, tracer, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < TRACERS; i++)
        pthread_join(t[i], NULL);

    for (size_t i = 0; i < tab->len; i++)
        total += tab->sym[i].hits;
    if (tab->lookups != TRACERS * EVENTS) {
        fprintf(stderr, "lookup count wrong\n");
        return 1;
    }
    if (total != TRACERS * EVENTS) {
        fprintf(stderr, "hits missing: %lu of %d\n", total, TRACERS * EVENTS);
        return 1;
    }
    free(tab->sym);
    free(tab);
    return 0;
}
