/* Read-mostly table: threads look up routes in one sorted table under a reader/writer lock; one in 500 batches updates it.
 *
 * SIZE is the number of batches. All threads read the same memory all the time, which is what an owner per location handles
 * worst. Verified: the two halves of each route always agree, and the updates add up.
 */
#include "workload.h"

enum { ROUTES = 4096, LOOKUPS_PER_BATCH = 24, UPDATE_EVERY = 500 };

struct route {
    uint64_t key;
    uint64_t weight, weight_doubled;
};

struct table {
    long batches;
    pthread_rwlock_t lock;
    struct route routes[ROUTES];
};

/* The last route whose key is not above `key`. */
static struct route *find(struct table *table, uint64_t key)
{
    int low = 0, high = ROUTES;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (table->routes[middle].key <= key)
            low = middle;
        else
            high = middle;
    }
    return &table->routes[low];
}

static uint64_t key_of(long batch, int lookup)
{
    return scramble(batch * LOOKUPS_PER_BATCH + lookup) % (ROUTES * 100);
}

static void update(struct table *table, long batch)
{
    pthread_rwlock_wrlock(&table->lock);
    struct route *route = find(table, key_of(batch, 0));
    route->weight += batch;
    route->weight_doubled += 2 * batch;
    pthread_rwlock_unlock(&table->lock);
}

static void look_up(struct table *table, long batch)
{
    pthread_rwlock_rdlock(&table->lock);
    for (int lookup = 0; lookup < LOOKUPS_PER_BATCH; lookup++) {
        struct route *route = find(table, key_of(batch, lookup));
        require(route->weight * 2 == route->weight_doubled, "a reader saw half an update");
    }
    pthread_rwlock_unlock(&table->lock);
}

static void use_table(int index, int threads, void *shared)
{
    struct table *table = shared;
    long end = share_start(table->batches, index + 1, threads);
    for (long batch = share_start(table->batches, index, threads); batch < end; batch++)
        if (batch % UPDATE_EVERY == 0)
            update(table, batch);
        else
            look_up(table, batch);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    static struct table table;
    table.batches = given.size;
    pthread_rwlock_init(&table.lock, NULL);
    for (int at = 0; at < ROUTES; at++)
        table.routes[at].key = at * 100;

    run_on_threads(given.threads, use_table, &table);

    uint64_t total = 0, expected = 0, checksum = 0;
    for (long batch = 0; batch < given.size; batch += UPDATE_EVERY)
        expected += batch;
    for (int at = 0; at < ROUTES; at++) {
        total += table.routes[at].weight;
        checksum = mix_into(checksum, table.routes[at].weight);
    }
    require(total == expected, "updates were lost");
    return print_checksum(checksum);
}
