#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int is_taken;
static int shared;

static void *work(void *nothing) {
    while (atomic_exchange_explicit(&is_taken, 1, memory_order_relaxed))
        ;
    shared++; /* RACE */
    atomic_store_explicit(&is_taken, 0, memory_order_relaxed);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return shared == 0;
}
