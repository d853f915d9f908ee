/* Thread pool with a drain operation: the owner submits a round of tasks and
 * waits until all of them have been executed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 3
#define ROUNDS  25
#define CAP     32

typedef uint64_t (*task_fn)(uint64_t);

struct task { task_fn fn; uint64_t arg; };

struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    pthread_cond_t idle;
    struct task ring[CAP];
    unsigned head, tail;
    bool closed;
    atomic_int pending;
    atomic_ullong result;
    pthread_t tid[THREADS];
};

static uint64_t mix(uint64_t x)
{
    for (int i = 0; i < 3000; i++) {
        x ^= x >> 33;
        x *= 0xff51afd7ed558ccdull;
    }
    return x;
}

static uint64_t fold(uint64_t x)
{
    uint64_t s = 0;
    for (int i = 0; i < 5000; i++)
        s += (x ^ (uint64_t)i) % 1021;
    return s;
}

static void task_done(struct pool *p)
{
#ifdef FIXED
    pthread_mutex_lock(&p->lock);
    if (atomic_fetch_sub(&p->pending, 1) == 1)
        pthread_cond_signal(&p->idle);
    pthread_mutex_unlock(&p->lock);
#else
    if (atomic_fetch_sub(&p->pending, 1) == 1) /* BUG: c */
        pthread_cond_signal(&p->idle); /* BUG: d */
#endif
}

static void *pool_thread(void *arg)
{
    struct pool *p = arg;
    for (;;) {
        pthread_mutex_lock(&p->lock);
        while (p->head == p->tail && !p->closed)
            pthread_cond_wait(&p->work, &p->lock);
        if (p->head == p->tail) {
            pthread_mutex_unlock(&p->lock);
            return NULL;
        }
        struct task t = p->ring[p->head++ % CAP];
        pthread_mutex_unlock(&p->lock);
        atomic_fetch_add(&p->result, t.fn(t.arg));
        task_done(p);
    }
}

static void pool_submit(struct pool *p, task_fn fn, uint64_t arg)
{
    atomic_fetch_add(&p->pending, 1);
    pthread_mutex_lock(&p->lock);
    if (p->tail - p->head == CAP)
        abort();
    p->ring[p->tail++ % CAP] = (struct task){ fn, arg };
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

static void pool_drain(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->pending) > 0) /* BUG: a */
        pthread_cond_wait(&p->idle, &p->lock); /* BUG: b */
    pthread_mutex_unlock(&p->lock);
}

static void pool_close(struct pool *p)
{
    pthread_mutex_lock(&p->lock);
    p->closed = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(p->tid[i], NULL);
}

int main(void)
{
    static struct pool p = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .work = PTHREAD_COND_INITIALIZER,
        .idle = PTHREAD_COND_INITIALIZER,
    };
    uint64_t expect = 0, check = 0;

    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&p.tid[i], NULL, pool_thread, &p) != 0)
            abort();
    for (unsigned r = 0; r < ROUNDS; r++) {
        unsigned tasks = 3 + r * 7 % 11;
        for (unsigned i = 0; i < tasks; i++)
            pool_submit(&p, (i & 1) ? mix : fold, r * 100 + i);
        for (unsigned i = 0; i < tasks; i++)
            expect += ((i & 1) ? mix : fold)(r * 100 + i);
        pool_drain(&p);
        check = atomic_load(&p.result);
        if (check != expect) {
            fprintf(stderr, "round %u: wrong result\n", r);
            return 1;
        }
    }
    pool_close(&p);
    return 0;
}
