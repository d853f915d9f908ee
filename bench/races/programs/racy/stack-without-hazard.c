#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "../schedule.h"

struct node {
    struct node *next;
};

static _Atomic(struct node *) top;

/* Reads the node it is about to take while somebody else may take and free it. */
static void *slow_pop(void *nothing) {
    struct node *mine = atomic_load(&top);
    struct node *next = mine->next; /* RACE */
    next_turn();
    await_turn(2);
    printf("%d\n", atomic_compare_exchange_strong(&top, &mine, next));
    return nothing;
}

static void *fast_pop(void *nothing) {
    await_turn(1);
    struct node *mine = atomic_load(&top);
    atomic_store(&top, mine->next);
    free(mine); /* RACE */
    next_turn();
    return nothing;
}

int main(void) {
    atomic_store(&top, calloc(1, sizeof(struct node)));
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, slow_pop, NULL);
    pthread_create(&threads[1], NULL, fast_pop, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
