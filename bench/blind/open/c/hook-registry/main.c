/* Registry of event hooks. Modules register their hooks while they start up;
 * dispatchers already run events through whatever is registered. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MODULES     2
#define HOOKS_EACH  24
#define DISPATCHERS 2
#define MAX_HOOKS   (MODULES * HOOKS_EACH)

struct event {
    unsigned kind;
    unsigned payload;
    unsigned result;
};

typedef void (*hook_fn)(struct event *, void *);

struct hook {
    hook_fn fn;
    void *ctx;
    unsigned mask;
};

static struct hook hooks[MAX_HOOKS];
static atomic_uint hook_count;
static pthread_mutex_t register_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ulong events_handled;
static atomic_uint modules_up;
static atomic_ulong module_calls[MODULES];

static unsigned spin_hash(unsigned x, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        x ^= x << 7;
        x += i;
        x ^= x >> 9;
    }
    return x;
}

static void count_hook(struct event *ev, void *ctx)
{
    atomic_fetch_add((atomic_ulong *)ctx, 1);
    ev->result += ev->payload & 0xf;
}

static void mix_hook(struct event *ev, void *ctx)
{
    atomic_fetch_add((atomic_ulong *)ctx, 1);
    ev->result ^= spin_hash(ev->payload, 40);
}

static void hook_register(hook_fn fn, void *ctx, unsigned mask)
{
    pthread_mutex_lock(&register_lock);
#ifdef FIXED
    unsigned i = atomic_load(&hook_count);
    hooks[i].mask = mask;
    hooks[i].ctx = ctx;
    hooks[i].fn = fn;
    atomic_store(&hook_count, i + 1);
#else
    unsigned i = atomic_fetch_add(&hook_count, 1); /* BUG: a */
    hooks[i].mask = mask;
    hooks[i].ctx = ctx;
    hooks[i].fn = fn; /* BUG: b */
#endif
    pthread_mutex_unlock(&register_lock);
}

static void dispatch(struct event *ev)
{
    unsigned n = atomic_load(&hook_count); /* BUG: c */
    for (unsigned i = 0; i < n; i++) {
        if (hooks[i].mask && !(hooks[i].mask & ev->kind))
            continue;
        hooks[i].fn(ev, hooks[i].ctx); /* BUG: d */
    }
    atomic_fetch_add(&events_handled, 1);
}

static void *module_start(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    unsigned x = id + 5;
    for (unsigned i = 0; i < HOOKS_EACH; i++) {
        x = spin_hash(x, 60000);
        hook_register((i & 1) ? mix_hook : count_hook, &module_calls[id], 1 + x % 7);
    }
    atomic_fetch_add(&modules_up, 1);
    return NULL;
}

static void *dispatcher(void *arg)
{
    unsigned x = (unsigned)(uintptr_t)arg + 100;
    unsigned long sum = 0;
    int last_round = 0;
    while (!last_round) {
        last_round = atomic_load(&modules_up) == MODULES;
        x = spin_hash(x, 12000);
        struct event ev = { .kind = 1u << x % 3, .payload = x };
        dispatch(&ev);
        sum += ev.result;
    }
    return (void *)(uintptr_t)(sum | 1);
}

int main(void)
{
    pthread_t m[MODULES], d[DISPATCHERS];

    for (uintptr_t i = 0; i < DISPATCHERS; i++)
        if (pthread_create(&d[i], NULL, dispatcher, (void *)i) != 0)
            abort();
    for (uintptr_t i = 0; i < MODULES; i++)
        if (pthread_create(&m[i], NULL, module_start, (void *)i) != 0)
            abort();
    for (int i = 0; i < MODULES; i++)
        pthread_join(m[i], NULL);
    for (int i = 0; i < DISPATCHERS; i++)
        pthread_join(d[i], NULL);

    if (atomic_load(&hook_count) != MAX_HOOKS || atomic_load(&events_handled) < DISPATCHERS) {
        fprintf(stderr, "registry incomplete\n");
        return 1;
    }
    return 0;
}
