/* Audit log with background writers. Writers are detached; closing the log
 * waits until every writer has signed off and then seals the totals. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WRITERS 3
#define RECORDS 420
#define RING    512

struct record { unsigned seq; unsigned user; };

struct audit_log {
    pthread_mutex_t lock;
    pthread_cond_t more;
    pthread_cond_t quiet;
    struct record ring[RING];
    unsigned head, tail;
    bool closing;
    int writers;
    atomic_ulong written;
    atomic_ullong digest;
};

static uint64_t encode(const struct record *r)
{
    uint64_t v = ((uint64_t)r->user << 32) | r->seq;
    for (int i = 0; i < 1200; i++) {
        v += 0x9e3779b97f4a7c15ull;
        v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
    }
    return v;
}

static void publish_totals(struct audit_log *log, unsigned long n, uint64_t digest)
{
    atomic_fetch_xor(&log->digest, digest);
    atomic_fetch_add(&log->written, n); /* BUG: b */
}

static void sign_off(struct audit_log *log)
{
    pthread_mutex_lock(&log->lock);
    if (--log->writers == 0) /* BUG: a */
        pthread_cond_signal(&log->quiet);
    pthread_mutex_unlock(&log->lock);
}

static void *writer(void *arg)
{
    struct audit_log *log = arg;
    unsigned long n = 0;
    uint64_t digest = 0;

    for (;;) {
        pthread_mutex_lock(&log->lock);
        while (log->head == log->tail && !log->closing)
            pthread_cond_wait(&log->more, &log->lock);
        if (log->head == log->tail) {
            pthread_mutex_unlock(&log->lock);
            break;
        }
        struct record r = log->ring[log->head++ % RING];
        pthread_mutex_unlock(&log->lock);
        digest ^= encode(&r);
        n++;
    }
#ifdef FIXED
    publish_totals(log, n, digest);
    sign_off(log);
#else
    sign_off(log); /* BUG: d */
    publish_totals(log, n, digest); /* BUG: e */
#endif
    return NULL;
}

static void log_append(struct audit_log *log, unsigned seq, unsigned user)
{
    pthread_mutex_lock(&log->lock);
    if (log->tail - log->head == RING)
        abort();
    log->ring[log->tail++ % RING] = (struct record){ seq, user };
    pthread_cond_signal(&log->more);
    pthread_mutex_unlock(&log->lock);
}

static unsigned long log_close(struct audit_log *log)
{
    pthread_mutex_lock(&log->lock);
    log->closing = true;
    pthread_cond_broadcast(&log->more);
    while (log->writers > 0) /* BUG: f */
        pthread_cond_wait(&log->quiet, &log->lock);
    pthread_mutex_unlock(&log->lock);
    return atomic_load(&log->written); /* BUG: c */
}

int main(void)
{
    static struct audit_log log = {
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .more = PTHREAD_COND_INITIALIZER,
        .quiet = PTHREAD_COND_INITIALIZER,
        .writers = WRITERS,
    };
    pthread_attr_t attr;

    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < WRITERS; i++) {
        pthread_t t;
        if (pthread_create(&t, &attr, writer, &log) != 0)
            abort();
    }
    pthread_attr_destroy(&attr);

    unsigned user = 1;
    for (unsigned i = 0; i < RECORDS; i++) {
        for (int k = 0; k < 800; k++)
            user = user * 1664525u + 1013904223u;
        log_append(&log, i, user >> 20);
    }
    unsigned long written = log_close(&log);
    if (written != RECORDS) {
        fprintf(stderr, "records missing in sealed log: %lu of %d\n", written, RECORDS);
        return 1;
    }
    return 0;
}
