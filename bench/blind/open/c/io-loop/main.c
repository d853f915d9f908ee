/* Event loop that advances its timers, executes I/O operations and runs a
 * completion callback for each. Clients keep their outstanding requests in an in-flight table, where
 * the completion looks them up by operation number. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CLIENTS  2
#define REQUESTS 50
#define QUEUE    (CLIENTS * REQUESTS)

typedef void (*complete_fn)(unsigned op, uint32_t result);

struct op { unsigned number; uint32_t input; complete_fn done; };

static struct {
    pthread_mutex_t lock;
    struct op queue[QUEUE];
    unsigned head, tail;
    bool stop;
} loop = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct request {
    unsigned op;
    uint32_t result;
    bool finished;
    struct request *next;
};

static struct {
    pthread_mutex_t lock;
    struct request *first;
    unsigned completed, orphans;
} inflight = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned op_numbers;

static uint32_t transform(uint32_t v, int rounds)
{
    for (int i = 0; i < rounds; i++)
        v = (v << 5 | v >> 27) * 0x85ebca6bu + (uint32_t)i;
    return v;
}

static unsigned loop_post(unsigned number, uint32_t input, complete_fn done)
{
    pthread_mutex_lock(&loop.lock);
    loop.queue[loop.tail++ % QUEUE] = (struct op){ number, input, done }; /* BUG: a */
    pthread_mutex_unlock(&loop.lock);
    return number;
}

static void *loop_run(void *arg)
{
    uint32_t wheel = 1;
    (void)arg;
    for (;;) {
        struct op op;
        pthread_mutex_lock(&loop.lock);
        bool stop = loop.stop;
        bool ready = loop.head != loop.tail;
        if (ready)
            op = loop.queue[loop.head++ % QUEUE];
        pthread_mutex_unlock(&loop.lock);
        if (ready)
            op.done(op.number, transform(op.input, 300)); /* BUG: d */
        else if (stop)
            return NULL;
        else
            wheel = transform(wheel, 8000);
    }
}

static void inflight_add(struct request *r)
{
    pthread_mutex_lock(&inflight.lock);
    r->next = inflight.first;
    inflight.first = r; /* BUG: b */
    pthread_mutex_unlock(&inflight.lock);
}

static void on_complete(unsigned op, uint32_t result)
{
    pthread_mutex_lock(&inflight.lock);
    struct request **p = &inflight.first;
    while (*p && (*p)->op != op) /* BUG: c */
        p = &(*p)->next;
    if (*p) {
        struct request *r = *p;
        *p = r->next;
        r->result = result;
        r->finished = true;
        inflight.completed++;
    } else {
        inflight.orphans++;
    }
    pthread_mutex_unlock(&inflight.lock);
}

static void *client(void *arg)
{
    struct request *reqs = arg;
    for (int i = 0; i < REQUESTS; i++) {
        struct request *r = &reqs[i];
        uint32_t input = transform((uint32_t)i, 30000 + i % 7 * 900);
        r->op = __atomic_add_fetch(&op_numbers, 1, __ATOMIC_SEQ_CST);
#ifdef FIXED
        inflight_add(r);
        loop_post(r->op, input, on_complete);
#else
        loop_post(r->op, input, on_complete); /* BUG: e */
        inflight_add(r); /* BUG: f */
#endif
    }
    return NULL;
}

int main(void)
{
    static struct request reqs[CLIENTS][REQUESTS];
    pthread_t c[CLIENTS], l;

    if (pthread_create(&l, NULL, loop_run, NULL) != 0)
        abort();
    for (int i = 0; i < CLIENTS; i++)
        if (pthread_create(&c[i], NULL, client, reqs[i]) != 0)
            abort();
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(c[i], NULL);
    pthread_mutex_lock(&loop.lock);
    loop.stop = true;
    pthread_mutex_unlock(&loop.lock);
    pthread_join(l, NULL);

    if (inflight.orphans || inflight.completed != QUEUE) {
        fprintf(stderr, "completion without request: %u\n", inflight.orphans);
        abort();
    }
    return 0;
}
