/* Metric batcher: samples are collected in a buffer; the thread that completes
 * a batch summarises it and ships it to the sink. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCES 4
#define SAMPLES 250
#define BATCH   50
#define ROOM    (SOURCES * SAMPLES)

struct sample { unsigned source; uint32_t value; };

struct batcher {
    pthread_mutex_t lock;
    struct sample buf[ROOM];
    unsigned count;
    uint64_t sum;
    unsigned batches;
};

struct sink {
    pthread_mutex_t lock;
    unsigned long samples;
    uint64_t sum;
    uint32_t fingerprint;
};

static struct batcher *batcher;
static struct sink sink = { .lock = PTHREAD_MUTEX_INITIALIZER };

static uint32_t measure(uint32_t x, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        x += x << 10;
        x ^= x >> 6;
        x += i;
    }
    return x;
}

static void ship(const struct sample *s, unsigned n, uint64_t sum)
{
    uint32_t fp = 0;
    for (unsigned i = 0; i < n; i++)
        fp = fp * 31 + s[i].value;
    pthread_mutex_lock(&sink.lock);
    sink.samples += n;
    sink.sum += sum;
    sink.fingerprint ^= fp;
    pthread_mutex_unlock(&sink.lock);
}

static void flush(struct batcher *b)
{
    struct sample copy[ROOM];

    pthread_mutex_lock(&b->lock);
    unsigned n = b->count; /* BUG: a */
    uint64_t sum = b->sum; /* BUG: e */
    memcpy(copy, b->buf, n * sizeof copy[0]);
#ifdef FIXED
    b->count = 0;
    b->sum = 0;
    b->batches++;
    pthread_mutex_unlock(&b->lock);
    ship(copy, n, sum);
#else
    pthread_mutex_unlock(&b->lock);
    ship(copy, n, sum);
    pthread_mutex_lock(&b->lock);
    b->count = 0; /* BUG: b */
    b->sum = 0; /* BUG: f */
    b->batches++;
    pthread_mutex_unlock(&b->lock);
#endif
}

static void record(struct batcher *b, unsigned source, uint32_t value)
{
    pthread_mutex_lock(&b->lock);
    if (b->count == ROOM)
        abort();
    b->buf[b->count] = (struct sample){ source, value };
    unsigned n = ++b->count; /* BUG: c */
    b->sum += value; /* BUG: d */
    pthread_mutex_unlock(&b->lock);
    if (n == BATCH)
        flush(b);
}

static void *source_main(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    uint32_t x = id * 0x01000193u;
    uint64_t sum = 0;

    for (int i = 0; i < SAMPLES; i++) {
        x = measure(x, 5000 + x % 3000);
        record(batcher, id, x & 0xffff);
        sum += x & 0xffff;
    }
    return (void *)(uintptr_t)sum;
}

int main(void)
{
    pthread_t t[SOURCES];
    uint64_t expect = 0;

    batcher = calloc(1, sizeof *batcher);
    pthread_mutex_init(&batcher->lock, NULL);
    for (uintptr_t i = 0; i < SOURCES; i++)
        if (pthread_create(&t[i], NULL, source_main, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < SOURCES; i++) {
        void *ret;
        pthread_join(t[i], &ret);
        expect += (uintptr_t)ret;
    }
    flush(batcher);

    if (sink.samples != SOURCES * SAMPLES || sink.sum != expect) {
        fprintf(stderr, "samples lost: sink has %lu of %d\n", sink.samples, SOURCES * SAMPLES);
        return 1;
    }
    free(batcher);
    return 0;
}
