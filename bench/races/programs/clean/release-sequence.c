#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "../schedule.h"

static int data;
static atomic_int stage;

static void *publish(void *nothing) {
    data = 42;
    atomic_store_explicit(&stage, 1, memory_order_release);
    next_turn();
    return nothing;
}

/* A read-modify-write, even a relaxed one, hands on the release it found. */
static void *advance(void *nothing) {
    await_turn(1);
    atomic_fetch_add_explicit(&stage, 1, memory_order_relaxed);
    next_turn();
    return nothing;
}

int main(void) {
    pthread_t publisher, advancer;
    pthread_create(&publisher, NULL, publish, NULL);
    pthread_create(&advancer, NULL, advance, NULL);
    await_turn(2);
    int is_there = atomic_load_explicit(&stage, memory_order_acquire) == 2;
    int seen = is_there ? data : 0;
    pthread_join(publisher, NULL);
    pthread_join(advancer, NULL);
    return seen != 42;
}
