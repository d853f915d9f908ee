/* A pool of database connections for sixteen workers. The data lies on several shards, each with some connections. A
 * worker asks two of the shards: it looks for a connection that is free, tries it, and marks it as its own until the
 * end of its transaction.
 *
 * Looking and marking take the lock once each. Two workers that have both seen a connection free mark it one after
 * the other, and talk on one connection at the same time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 16, SHARDS = 8, CONNECTIONS = 6, ASKED = 2, NOBODY = -1 };

struct connection {
    int owner;
    long uses;
};

struct shard {
    pthread_mutex_t lock;
    struct connection connections[CONNECTIONS];
    long waits;
};

struct worker {
    int number;
    int held[ASKED];
    long shared;
    unsigned answers;
};

static struct shard shards[SHARDS];
static pthread_barrier_t all_here, all_asked;
static int query_work = 4000;
static int trial_work = 300;
#ifdef FIXED
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
#endif

static unsigned query(unsigned text, int rounds) {
    for (int i = 0; i < rounds; i++)
        text = text * 1664525u + 1013904223u;
    return text;
}

/* The number of a free connection, or -1. */
static int find_free(struct shard *in) {
    int free_one = -1;
    pthread_mutex_lock(&in->lock);
    for (int i = 0; i < CONNECTIONS && free_one < 0; i++)
        if (in->connections[i].owner == NOBODY) /* BUG: 1 */
            free_one = i;
    if (free_one < 0)
        in->waits++;
    pthread_mutex_unlock(&in->lock);
    return free_one;
}

static void mark(struct shard *in, int connection, int owner) {
    pthread_mutex_lock(&in->lock);
    in->connections[connection].owner = owner; /* BUG: 2, 3 */
    in->connections[connection].uses++;
    pthread_mutex_unlock(&in->lock);
}

/* A connection that answers, or -1 if it does not. */
static int acquire(struct shard *from, struct worker *worker) {
#ifdef FIXED
    pthread_mutex_lock(&choosing);
#endif
    int connection = find_free(from);
    if (connection >= 0) {
        worker->answers ^= query((unsigned)connection, trial_work);
        mark(from, connection, worker->number);
    }
#ifdef FIXED
    pthread_mutex_unlock(&choosing);
#endif
    return connection;
}

/* Is the connection still the worker's own? */
static int is_own(struct shard *in, int connection, int owner) {
    pthread_mutex_lock(&in->lock);
    int own = in->connections[connection].owner == owner;
    pthread_mutex_unlock(&in->lock);
    return own;
}

static struct shard *asked_by(const struct worker *worker, int i) { return &shards[(worker->number / 2 + i) % SHARDS]; }

static void *work(void *argument) {
    struct worker *worker = argument;
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < ASKED; i++) {
        worker->answers ^= query((unsigned)(worker->number * 100 + i), query_work);
        worker->held[i] = acquire(asked_by(worker, i), worker);
    }
    pthread_barrier_wait(&all_asked);
    for (int i = 0; i < ASKED; i++)
        worker->shared += !is_own(asked_by(worker, i), worker->held[i], worker->number);
    return NULL;
}

static void open_shards(void) {
    for (int i = 0; i < SHARDS; i++) {
        pthread_mutex_init(&shards[i].lock, NULL);
        for (int k = 0; k < CONNECTIONS; k++)
            shards[i].connections[k].owner = NOBODY;
    }
}

int main(int count, char **arguments) {
    if (count > 1)
        query_work = atoi(arguments[1]);
    if (count > 2)
        trial_work = atoi(arguments[2]);
    open_shards();
    pthread_barrier_init(&all_here, NULL, WORKERS);
    pthread_barrier_init(&all_asked, NULL, WORKERS);
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){.number = i};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    long shared = 0, waits = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        shared += workers[i].shared;
    }
    for (int i = 0; i < SHARDS; i++)
        waits += shards[i].waits;
    printf("%d connections asked for, %ld not free\n", WORKERS * ASKED, waits);
    if (shared > 0) {
        fprintf(stderr, "FAILED: %ld times two workers had one connection\n", shared);
        return 1;
    }
    return 0;
}
