#include <pthread.h>
#include <stdlib.h>

#include "../schedule.h"

enum { SIZE = 1 << 20 };

/* A block this large is given back to the system, and the next one is at the same address. */
static void *use_heap(void *turn) {
    await_turn(*(int *)turn);
    volatile char *block = malloc(SIZE);
    block[0] = block[SIZE / 2] = 1;
    free((void *)block);
    next_turn();
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    int turns[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, use_heap, &turns[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
