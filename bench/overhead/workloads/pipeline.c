/* Bounded producer/consumer pipeline: blocks of bytes change hands through a ring under one mutex and two conditions.
 *
 * SIZE is the number of blocks. Half of the threads produce, the other half consume. Blocks come from malloc and are freed
 * by whoever consumes them. Verified: every block is consumed once, and a consumer recomputes the last word of each.
 */
#include "workload.h"

enum { CAPACITY = 32, WORDS = 256 };

struct block {
    long number;
    uint64_t words[WORDS];
};

struct pipeline {
    long blocks, next_number, consumed;
    int producers;
    struct block *ring[CAPACITY];
    int first, used;
    pthread_mutex_t lock;
    pthread_cond_t not_full, not_empty;
    uint64_t digest;
};

static uint64_t next_word(uint64_t word)
{
    return word * 6364136223846793005u + 1442695040888963407u;
}

static void fill(struct block *block, long number)
{
    block->number = number;
    uint64_t value = number;
    for (int at = 0; at < WORDS; at++) {
        value = next_word(value);
        block->words[at] = value;
    }
}

static uint64_t digest(const struct block *block)
{
    uint64_t sum = block->number;
    for (int at = 0; at < WORDS; at++)
        sum = mix_into(sum, block->words[at]);
    require(block->words[WORDS - 1] == next_word(block->words[WORDS - 2]), "a block changed on its way");
    return sum;
}

/* The number of the next block to be made, or -1 when all were given out. */
static long take_number(struct pipeline *pipeline)
{
    pthread_mutex_lock(&pipeline->lock);
    long number = pipeline->next_number < pipeline->blocks ? pipeline->next_number++ : -1;
    pthread_mutex_unlock(&pipeline->lock);
    return number;
}

static void put(struct pipeline *pipeline, struct block *block)
{
    pthread_mutex_lock(&pipeline->lock);
    while (pipeline->used == CAPACITY)
        pthread_cond_wait(&pipeline->not_full, &pipeline->lock);
    pipeline->ring[(pipeline->first + pipeline->used++) % CAPACITY] = block;
    pthread_cond_signal(&pipeline->not_empty);
    pthread_mutex_unlock(&pipeline->lock);
}

/* Waits for a block; null when all blocks were consumed. */
static struct block *get(struct pipeline *pipeline)
{
    struct block *block = NULL;
    pthread_mutex_lock(&pipeline->lock);
    while (pipeline->used == 0 && pipeline->consumed < pipeline->blocks)
        pthread_cond_wait(&pipeline->not_empty, &pipeline->lock);
    if (pipeline->used > 0) {
        block = pipeline->ring[pipeline->first];
        pipeline->first = (pipeline->first + 1) % CAPACITY;
        pipeline->used--;
        if (++pipeline->consumed == pipeline->blocks)
            pthread_cond_broadcast(&pipeline->not_empty);
        pthread_cond_signal(&pipeline->not_full);
    }
    pthread_mutex_unlock(&pipeline->lock);
    return block;
}

static void produce(struct pipeline *pipeline)
{
    for (long number; (number = take_number(pipeline)) >= 0;) {
        struct block *block = malloc(sizeof *block);
        require(block != NULL, "out of memory");
        fill(block, number);
        put(pipeline, block);
    }
}

static void consume(struct pipeline *pipeline)
{
    uint64_t sum = 0;
    for (struct block *block; (block = get(pipeline)) != NULL; free(block))
        sum += digest(block);
    pthread_mutex_lock(&pipeline->lock);
    pipeline->digest += sum;
    pthread_mutex_unlock(&pipeline->lock);
}

static void work(int index, int threads, void *shared)
{
    (void)threads;
    struct pipeline *pipeline = shared;
    if (index < pipeline->producers)
        produce(pipeline);
    else
        consume(pipeline);
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    require(given.threads >= 2, "a pipeline needs two threads");
    static struct pipeline pipeline = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .not_full = PTHREAD_COND_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};
    pipeline.blocks = given.size;
    pipeline.producers = given.threads / 2;

    run_on_threads(given.threads, work, &pipeline);

    require(pipeline.consumed == given.size, "blocks were lost");
    return print_checksum(pipeline.digest);
}
