/* Striped hash map: chains of heap nodes, one mutex per stripe, a mix of counting, looking up and removing.
 *
 * SIZE is the number of operations. Verified: the counts of all keys add up to the number of counting operations.
 */
#include "workload.h"

enum { STRIPES = 64, BUCKETS = 1 << 14, KEYS = 40000, REMOVED_EVERY = 3 };

struct node {
    uint64_t key;
    uint64_t count;
    struct node *next;
};

struct map {
    long operations;
    pthread_mutex_t stripes[STRIPES];
    struct node *buckets[BUCKETS];
    pthread_mutex_t totals;
    uint64_t looked_up, removed; /* under `totals`; what was looked up depends on the interleaving and is not checked */
    pthread_barrier_t counted;
};

static unsigned bucket_of(uint64_t key)
{
    return scramble(key) % BUCKETS;
}

static struct node *find(struct map *map, uint64_t key)
{
    struct node *node = map->buckets[bucket_of(key)];
    while (node != NULL && node->key != key)
        node = node->next;
    return node;
}

static struct node *add_node(struct map *map, uint64_t key)
{
    struct node *node = allocate(sizeof *node);
    node->key = key;
    node->next = map->buckets[bucket_of(key)];
    map->buckets[bucket_of(key)] = node;
    return node;
}

static pthread_mutex_t *stripe_of(struct map *map, uint64_t key)
{
    return &map->stripes[bucket_of(key) % STRIPES];
}

static void count_key(struct map *map, uint64_t key)
{
    pthread_mutex_lock(stripe_of(map, key));
    struct node *node = find(map, key);
    if (node == NULL)
        node = add_node(map, key);
    node->count++;
    pthread_mutex_unlock(stripe_of(map, key));
}

static uint64_t look_up(struct map *map, uint64_t key)
{
    pthread_mutex_lock(stripe_of(map, key));
    struct node *node = find(map, key);
    uint64_t count = node == NULL ? 0 : node->count;
    pthread_mutex_unlock(stripe_of(map, key));
    return count;
}

/* Takes a key out and returns the count it had. */
static uint64_t remove_key(struct map *map, uint64_t key)
{
    pthread_mutex_lock(stripe_of(map, key));
    struct node **link = &map->buckets[bucket_of(key)];
    while (*link != NULL && (*link)->key != key)
        link = &(*link)->next;
    struct node *node = *link;
    if (node != NULL)
        *link = node->next;
    pthread_mutex_unlock(stripe_of(map, key));
    uint64_t count = node == NULL ? 0 : node->count;
    free(node);
    return count;
}

static uint64_t key_of(long operation)
{
    return scramble(operation) % KEYS;
}

static int is_counting(long operation)
{
    return operation % 4 == 0;
}

static uint64_t count_and_look_up(struct map *map, long first, long end)
{
    uint64_t looked_up = 0;
    for (long operation = first; operation < end; operation++)
        if (is_counting(operation))
            count_key(map, key_of(operation));
        else
            looked_up += look_up(map, key_of(operation));
    return looked_up;
}

static uint64_t remove_some(struct map *map, long first, long end)
{
    uint64_t removed = 0;
    for (long key = first; key < end; key++)
        if (key % REMOVED_EVERY == 0)
            removed += remove_key(map, key);
    return removed;
}

static void use_map(int index, int threads, void *shared)
{
    struct map *map = shared;
    long operations = map->operations;
    uint64_t looked_up =
        count_and_look_up(map, share_start(operations, index, threads), share_start(operations, index + 1, threads));
    pthread_barrier_wait(&map->counted);
    uint64_t removed = remove_some(map, share_start(KEYS, index, threads), share_start(KEYS, index + 1, threads));
    pthread_mutex_lock(&map->totals);
    map->looked_up += looked_up;
    map->removed += removed;
    pthread_mutex_unlock(&map->totals);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    static struct map map;
    map.operations = given.size;
    for (int stripe = 0; stripe < STRIPES; stripe++)
        pthread_mutex_init(&map.stripes[stripe], NULL);
    pthread_mutex_init(&map.totals, NULL);
    pthread_barrier_init(&map.counted, NULL, given.threads);

    run_on_threads(given.threads, use_map, &map);

    uint64_t total = map.removed, expected = (given.size + 3) / 4, checksum = 0;
    for (long key = 0; key < KEYS; key++) {
        uint64_t count = look_up(&map, key);
        total += count;
        checksum = mix_into(checksum, count);
    }
    require(total == expected, "counts were lost");
    return print_checksum(checksum);
}
