/* A pool of database connections, used by sixteen workers. A worker looks for a connection that is free, and marks
 * it as its own; afterwards it gives it back.
 *
 * Looking and marking take the lock once each. Two workers that have both seen a connection free mark it one after
 * the other, and talk on one connection at the same time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKERS = 16, CONNECTIONS = 20, NOBODY = -1 };

struct connection {
    int owner;
    long uses;
};

struct pool {
    pthread_mutex_t lock;
    struct connection connections[CONNECTIONS];
    long waits;
};

struct worker {
    int number;
    long shared;
    unsigned answers;
};

static struct pool pool = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t all_here;
static int queries = 12;
static int query_work = 4000;
#ifdef FIXED
static pthread_mutex_t choosing = PTHREAD_MUTEX_INITIALIZER;
#endif

static unsigned query(unsigned text, int rounds) {
    for (int i = 0; i < rounds; i++)
        text = text * 1664525u + 1013904223u;
    return text;
}

/* The number of a free connection, or -1. */
static int find_free(struct pool *in) {
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

static void mark(struct pool *in, int connection, int owner) {
    pthread_mutex_lock(&in->lock);
    in->connections[connection].owner = owner; /* BUG: 2, 3 */
    in->connections[connection].uses++;
    pthread_mutex_unlock(&in->lock);
}

static int acquire(struct pool *from, int owner) {
#ifdef FIXED
    pthread_mutex_lock(&choosing);
#endif
    int connection;
    while ((connection = find_free(from)) < 0)
        query(1, 100);
    mark(from, connection, owner);
#ifdef FIXED
    pthread_mutex_unlock(&choosing);
#endif
    return connection;
}

/* Gives a connection back; says whether it was still the worker's own. */
static int release(struct pool *to, int connection, int owner) {
    pthread_mutex_lock(&to->lock);
    int own = to->connections[connection].owner == owner;
    to->connections[connection].owner = NOBODY;
    pthread_mutex_unlock(&to->lock);
    return own;
}

static void *work(void *argument) {
    struct worker *worker = argument;
    pthread_barrier_wait(&all_here);
    for (int i = 0; i < queries; i++) {
        worker->answers ^= query((unsigned)(worker->number * 100 + i), query_work);
        int connection = acquire(&pool, worker->number);
        worker->answers ^= query((unsigned)connection, query_work / 4);
        if (!release(&pool, connection, worker->number))
            worker->shared++;
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        queries = atoi(arguments[1]);
    if (count > 2)
        query_work = atoi(arguments[2]);
    for (int i = 0; i < CONNECTIONS; i++)
        pool.connections[i].owner = NOBODY;
    pthread_barrier_init(&all_here, NULL, WORKERS);
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){i, 0, 0};
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    long shared = 0, uses = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        shared += workers[i].shared;
    }
    for (int i = 0; i < CONNECTIONS; i++)
        uses += pool.connections[i].uses;
    printf("%ld uses, %ld waits\n", uses, pool.waits);
    if (shared > 0) {
        fprintf(stderr, "FAILED: %ld times two workers had one connection\n", shared);
        return 1;
    }
    return 0;
}
