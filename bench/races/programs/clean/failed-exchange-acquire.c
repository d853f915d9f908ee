#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "../schedule.h"

static int data;
static atomic_int owner;

static void *publish(void *nothing) {
    data = 42;
    atomic_store_explicit(&owner, 1, memory_order_release);
    next_turn();
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    await_turn(1);
    int nobody = 0, seen = 0;
    if (!atomic_compare_exchange_strong_explicit(&owner, &nobody, 2, memory_order_acq_rel,
                                                 memory_order_acquire))
        seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
