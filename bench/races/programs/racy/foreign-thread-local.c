#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "../schedule.h"

static _Thread_local int own_count;
static _Atomic(int *) counts;

static void *work(void *nothing) {
    atomic_store_explicit(&counts, &own_count, memory_order_relaxed);
    own_count++; /* RACE */
    await_turn(1);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    int *count;
    while ((count = atomic_load_explicit(&counts, memory_order_relaxed)) == NULL)
        ;
    *count = 0; /* RACE */
    next_turn();
    pthread_join(thread, NULL);
    return 0;
}
