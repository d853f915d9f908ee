#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int counter;

static void *count(void *nothing) {
    for (int i = 0; i < 10; i++)
        atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, count, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return atomic_load_explicit(&counter, memory_order_relaxed) != 20;
}
