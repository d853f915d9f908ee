/* Iterative solver in phases: every worker relaxes its strip and posts its
 * residual; the coordinator adds the residuals up and opens the next phase. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS 3
#define PHASES  40
#define STRIP   64

struct strip {
    int64_t cell[STRIP];
};

struct solver {
    atomic_uint phase;      /* the phase the workers may run */
    atomic_uint posted;     /* residuals posted so far, over all phases */
    atomic_uint claimed;
    int64_t residual[WORKERS];
    int64_t history[PHASES];
    struct strip strip[WORKERS];
    pthread_mutex_t log_lock;
    unsigned long relaxations;
};

struct worker {
    struct solver *s;
    unsigned index;
};

static unsigned active_cells(unsigned worker, unsigned phase)
{
    unsigned v = (worker + 1) * 40503u + phase * 9973u;
    v ^= v >> 7;
    return STRIP / 4 + v % (STRIP * 3 / 4);
}

static int64_t relax(struct strip *st, unsigned cells, unsigned phase)
{
    int64_t change = 0;
    for (unsigned i = 0; i < cells; i++) {
        int64_t v = st->cell[i];
        for (unsigned k = 0; k < 90; k++)
            v = (v * 3 + (int64_t)(i + phase + k)) % 100003;
        change += v > st->cell[i] ? v - st->cell[i] : st->cell[i] - v;
        st->cell[i] = v;
    }
    return change;
}

static void account(struct solver *s, unsigned n)
{
    pthread_mutex_lock(&s->log_lock);
    s->relaxations += n;
    pthread_mutex_unlock(&s->log_lock);
}

static void post_residual(struct solver *s, int64_t r)
{
#ifdef FIXED
    unsigned at = atomic_fetch_add(&s->claimed, 1) % WORKERS;
    s->residual[at] = r;
    atomic_fetch_add(&s->posted, 1);
#else
    unsigned at = atomic_fetch_add(&s->posted, 1) % WORKERS; /* BUG: a */
    s->residual[at] = r; /* BUG: b */
#endif
}

static void *run(void *arg)
{
    struct worker *me = arg;
    struct solver *s = me->s;

    for (unsigned phase = 0; phase < PHASES; phase++) {
        while (atomic_load(&s->phase) < phase)
            sched_yield();
        unsigned cells = active_cells(me->index, phase);
        int64_t r = relax(&s->strip[me->index], cells, phase);
        account(s, cells);
        post_residual(s, r);
    }
    return NULL;
}

static void coordinate(struct solver *s)
{
    for (unsigned phase = 0; phase < PHASES; phase++) {
        while (atomic_load(&s->posted) < (phase + 1) * WORKERS) /* BUG: c */
            sched_yield();
        for (unsigned w = 0; w < WORKERS; w++)
            s->history[phase] += s->residual[w]; /* BUG: d */
        atomic_store(&s->phase, phase + 1);
    }
}

static int verify(const struct solver *s)
{
    static struct strip ref[WORKERS];
    for (unsigned phase = 0; phase < PHASES; phase++) {
        int64_t sum = 0;
        for (unsigned w = 0; w < WORKERS; w++)
            sum += relax(&ref[w], active_cells(w, phase), phase);
        if (sum != s->history[phase]) {
            fprintf(stderr, "residual of phase %u wrong: %lld, expected %lld\n",
                    phase, (long long)s->history[phase], (long long)sum);
            return 0;
        }
    }
    return 1;
}

int main(void)
{
    struct solver *s = calloc(1, sizeof *s);
    struct worker w[WORKERS];
    pthread_t t[WORKERS];
    unsigned long expect = 0;

    pthread_mutex_init(&s->log_lock, NULL);
    for (unsigned i = 0; i < WORKERS; i++) {
        w[i] = (struct worker){ s, i };
        if (pthread_create(&t[i], NULL, run, &w[i]) != 0)
            abort();
    }
    coordinate(s);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(t[i], NULL);
    for (unsigned i = 0; i < WORKERS; i++)
        for (unsigned p = 0; p < PHASES; p++)
            expect += active_cells(i, p);
    if (s->relaxations != expect || !verify(s))
        return 1;
    free(s);
    return 0;
}
