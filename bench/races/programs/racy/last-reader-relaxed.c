/* A block of a queue with several readers: whoever is the last one to be done with it frees it. */
#include "../schedule.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

enum { READERS = 3 };

struct block {
    int values[READERS];
    atomic_int readers;
};

static struct block *block;
static int seen[READERS];

static void *read_slot(void *number) {
    int own = (int)(size_t)number;
    await_turn(own);
    seen[own] = block->values[own]; /* RACE */
    next_turn();
    if (atomic_fetch_sub_explicit(&block->readers, 1, memory_order_relaxed) == 1)
        free(block); /* RACE */
    return NULL;
}

int main(void) {
    pthread_t threads[READERS];
    block = malloc(sizeof *block);
    for (int i = 0; i < READERS; i++)
        block->values[i] = i;
    atomic_init(&block->readers, READERS);
    for (int i = 0; i < READERS; i++)
        pthread_create(&threads[i], NULL, read_slot, (void *)(size_t)i);
    for (int i = 0; i < READERS; i++)
        pthread_join(threads[i], NULL);
    return seen[0] + seen[1] + seen[2] != 3;
}
