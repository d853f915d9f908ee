#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../schedule.h"

static int data;
static atomic_int stage;

static void *publish(void *nothing) {
    data = 42; /* RACE */
    atomic_store_explicit(&stage, 1, memory_order_release);
    next_turn();
    return nothing;
}

/* A plain store, not a read-modify-write: the value that is read below belongs to no release. */
static void *advance(void *nothing) {
    await_turn(1);
    atomic_store_explicit(&stage, 2, memory_order_relaxed);
    next_turn();
    return nothing;
}

int main(void) {
    pthread_t publisher, advancer;
    pthread_create(&publisher, NULL, publish, NULL);
    pthread_create(&advancer, NULL, advance, NULL);
    await_turn(2);
    if (atomic_load_explicit(&stage, memory_order_acquire) == 2)
        printf("%d\n", data); /* RACE */
    pthread_join(publisher, NULL);
    pthread_join(advancer, NULL);
    return 0;
}
