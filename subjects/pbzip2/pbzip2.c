/* A parallel compressor: one thread cuts the input into blocks, several compress them, one writes them in order.
 * Blocks wait in a bounded queue with its own mutex, which `main` makes and takes down.
 *
 * `main` waits for the writer, because then all is written; it does not wait for the compressors. One that comes
 * back to the queue after it was taken down, to find out that there is nothing more to do, locks a null mutex.
 */
#include "../../crates/breakpoint/include/unpick.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512, SLOTS = 8, COMPRESSORS = 2 };

struct block {
    int number;
    int length;
    int packed_length;
    unsigned char bytes[BLOCK];
    unsigned char packed[2 * BLOCK];
};

struct queue {
    struct block *slots[SLOTS];
    int head, used;
    int all_in;
    pthread_mutex_t *mutex;
    pthread_cond_t not_empty, not_full;
};

struct output {
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    struct block **done;
    int blocks;
    long in_bytes, out_bytes;
    unsigned trailer;
};

struct statistics {
    pthread_mutex_t lock;
    long blocks;
    unsigned checksum;
};

static pthread_mutex_t queue_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct queue queue;
static struct output output = {.lock = PTHREAD_MUTEX_INITIALIZER, .arrived = PTHREAD_COND_INITIALIZER};
static struct statistics statistics = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void queue_init(struct queue *fifo) {
    memset(fifo, 0, sizeof *fifo);
    fifo->mutex = &queue_mutex;
    pthread_cond_init(&fifo->not_empty, NULL);
    pthread_cond_init(&fifo->not_full, NULL);
}

static void queue_delete(struct queue *fifo) {
    pthread_cond_broadcast(&fifo->not_full);
    UNPICK_STEP(conflict("taken-down-in-use", fifo), first());
    fifo->mutex = NULL; /* BUG: 1 */
    UNPICK_DONE("taken-down-in-use");
}

static void queue_add(struct queue *fifo, struct block *block) {
    pthread_mutex_lock(fifo->mutex);
    while (fifo->used == SLOTS)
        pthread_cond_wait(&fifo->not_full, fifo->mutex);
    fifo->slots[(fifo->head + fifo->used++) % SLOTS] = block;
    pthread_cond_signal(&fifo->not_empty);
    pthread_mutex_unlock(fifo->mutex);
}

static void queue_close(struct queue *fifo) {
    pthread_mutex_lock(fifo->mutex);
    fifo->all_in = 1;
    pthread_cond_broadcast(&fifo->not_empty);
    pthread_mutex_unlock(fifo->mutex);
}

/* The next block, or NULL when there will be none. */
static struct block *queue_take(struct queue *fifo) {
    UNPICK_TRIGGER(conflict("taken-down-in-use", fifo), second(), when(statistics.blocks == output.blocks), bound(1));
    pthread_mutex_t *mutex = fifo->mutex; /* BUG: 2 */
    pthread_mutex_lock(mutex);
    while (fifo->used == 0 && !fifo->all_in)
        pthread_cond_wait(&fifo->not_empty, mutex);
    struct block *block = NULL;
    if (fifo->used > 0) {
        block = fifo->slots[fifo->head];
        fifo->head = (fifo->head + 1) % SLOTS;
        fifo->used--;
        pthread_cond_signal(&fifo->not_full);
    }
    pthread_mutex_unlock(mutex);
    return block;
}

/* Runs of equal bytes as length and byte. */
static void compress(struct block *block) {
    int out = 0;
    for (int in = 0; in < block->length;) {
        int run = 1;
        while (in + run < block->length && run < 255 && block->bytes[in + run] == block->bytes[in])
            run++;
        block->packed[out++] = (unsigned char)run;
        block->packed[out++] = block->bytes[in];
        in += run;
    }
    block->packed_length = out;
}

static void hand_over(struct block *block) {
    pthread_mutex_lock(&output.lock);
    output.done[block->number] = block;
    pthread_cond_signal(&output.arrived);
    pthread_mutex_unlock(&output.lock);
}

static void count_block(unsigned checksum) {
    pthread_mutex_lock(&statistics.lock);
    statistics.blocks++;
    statistics.checksum ^= checksum;
    pthread_mutex_unlock(&statistics.lock);
}

static void *compressor(void *unused) {
    (void)unused;
    struct block *block;
    while ((block = queue_take(&queue))) {
        compress(block);
        unsigned checksum = 1;
        for (int i = 0; i < 64; i++)
            checksum = checksum * 31 + block->packed[i];
        hand_over(block);
        count_block(checksum);
    }
    return NULL;
}

/* Goes at the end of the file: a checksum of what was written last. */
static unsigned trailer(const struct block *last) {
    unsigned sum = 0;
    for (int round = 0; round < 80; round++)
        for (int i = 0; i < last->packed_length; i++)
            sum = sum * 31 + last->packed[i];
    return sum;
}

static void *writer(void *unused) {
    (void)unused;
    for (int number = 0; number < output.blocks; number++) {
        pthread_mutex_lock(&output.lock);
        while (!output.done[number])
            pthread_cond_wait(&output.arrived, &output.lock);
        struct block *block = output.done[number];
        pthread_mutex_unlock(&output.lock);
        output.in_bytes += block->length;
        output.out_bytes += block->packed_length;
        if (number + 1 == output.blocks)
            output.trailer = trailer(block);
        free(block);
    }
    return NULL;
}

static struct block *read_block(int number) {
    struct block *block = malloc(sizeof *block);
    block->number = number;
    block->length = BLOCK;
    unsigned text = (unsigned)number;
    for (int i = 0; i < BLOCK; i++) {
        if (i % 5 == 0)
            text = text * 1103515245u + 12345u;
        block->bytes[i] = (unsigned char)(text >> 24);
    }
    return block;
}

int main(int count, char **arguments) {
    output.blocks = count > 1 ? atoi(arguments[1]) : 16;
    output.done = calloc((size_t)output.blocks, sizeof *output.done);
    queue_init(&queue);
    pthread_t compressors[COMPRESSORS], writing;
    for (int i = 0; i < COMPRESSORS; i++)
        pthread_create(&compressors[i], NULL, compressor, NULL);
    pthread_create(&writing, NULL, writer, NULL);
    for (int number = 0; number < output.blocks; number++)
        queue_add(&queue, read_block(number));
    queue_close(&queue);
    pthread_join(writing, NULL);
#ifdef FIXED
    for (int i = 0; i < COMPRESSORS; i++)
        pthread_join(compressors[i], NULL);
#endif
    queue_delete(&queue);
    printf("%ld bytes packed into %ld, trailer %08x\n", output.in_bytes, output.out_bytes, output.trailer);
#ifndef FIXED
    for (int i = 0; i < COMPRESSORS; i++)
        pthread_join(compressors[i], NULL);
#endif
    free(output.done);
    return 0;
}
