/* Peer table with traffic totals. Traffic is counted per peer and folded into
 * the totals from time to time, as well as when a peer leaves. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PEERS   8
#define LINKS   3
#define PACKETS 500

struct peer {
    pthread_mutex_t lock;
    unsigned long bytes;
    unsigned long packets;
};

struct totals {
    unsigned long bytes;
    unsigned long packets;
    unsigned long mean;
};

static struct {
    pthread_mutex_t lock;       /* membership */
    pthread_mutex_t stats_lock; /* totals */
    struct peer peer[PEERS];
    bool present[PEERS];
    unsigned leaves;
    struct totals totals;
} net = { .lock = PTHREAD_MUTEX_INITIALIZER, .stats_lock = PTHREAD_MUTEX_INITIALIZER };

static pthread_barrier_t links_up;

static unsigned route(unsigned x, int n)
{
    while (n-- > 0)
        x = x * 1103515245u + 12345u + (x >> 21);
    return x;
}

static struct totals peer_take(struct peer *p)
{
    pthread_mutex_lock(&p->lock);
    struct totals t = { .bytes = p->bytes, .packets = p->packets };
    p->bytes = 0;
    p->packets = 0;
    pthread_mutex_unlock(&p->lock);
    return t;
}

static struct totals merge(struct totals sum, struct totals t)
{
    sum.bytes += t.bytes;
    sum.packets += t.packets;
    if (sum.packets)
        sum.mean = sum.bytes / sum.packets;
    return sum;
}

static void peer_fold(unsigned i)
{
    struct totals t = peer_take(&net.peer[i]);
    pthread_mutex_lock(&net.stats_lock); /* BUG: c */
    net.totals = merge(net.totals, t); /* BUG: a */
    pthread_mutex_unlock(&net.stats_lock);
}

static void peer_leave(unsigned i)
{
    pthread_mutex_lock(&net.lock); /* BUG: d */
    if (net.present[i]) {
        net.present[i] = false;
        net.leaves++;
        struct totals t = peer_take(&net.peer[i]);
#ifdef FIXED
        pthread_mutex_lock(&net.stats_lock);
        net.totals = merge(net.totals, t);
        pthread_mutex_unlock(&net.stats_lock);
#else
        net.totals = merge(net.totals, t); /* BUG: b */
#endif
    }
    pthread_mutex_unlock(&net.lock);
}

static void peer_join(unsigned i)
{
    pthread_mutex_lock(&net.lock);
    net.present[i] = true;
    pthread_mutex_unlock(&net.lock);
}

static void *link_main(void *arg)
{
    unsigned long sent = 0;
    unsigned x = 31u * (unsigned)(uintptr_t)arg;

    pthread_barrier_wait(&links_up);
    for (int i = 0; i < PACKETS; i++) {
        x = route(x, 3500);
        unsigned n = (x >> 16) % PEERS;
        unsigned size = 64 + (x >> 8) % 1400;
        struct peer *p = &net.peer[n];
        pthread_mutex_lock(&p->lock);
        p->bytes += size;
        p->packets++;
        pthread_mutex_unlock(&p->lock);
        sent += size;
        if (i % 8 == 7)
            peer_fold(n);
        else if (i % 16 == 4)
            peer_leave(n);
        else
            peer_join(n);
    }
    return (void *)sent;
}

int main(void)
{
    pthread_t t[LINKS];
    unsigned long sent = 0;

    pthread_barrier_init(&links_up, NULL, LINKS);
    for (int i = 0; i < PEERS; i++) {
        pthread_mutex_init(&net.peer[i].lock, NULL);
        net.present[i] = true;
    }
    for (uintptr_t i = 0; i < LINKS; i++)
        if (pthread_create(&t[i], NULL, link_main, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < LINKS; i++) {
        void *ret;
        pthread_join(t[i], &ret);
        sent += (unsigned long)ret;
    }
    for (unsigned i = 0; i < PEERS; i++)
        peer_fold(i);
    if (net.totals.bytes != sent || net.totals.packets != LINKS * PACKETS) {
        fprintf(stderr, "traffic totals off: %lu of %lu bytes, %lu packets\n",
                net.totals.bytes, sent, net.totals.packets);
        return 1;
    }
    return 0;
}
