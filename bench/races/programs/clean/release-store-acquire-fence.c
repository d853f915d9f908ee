#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static int data;
static atomic_int ready;

static void *publish(void *nothing) {
    data = 42;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    int seen = data;
    pthread_join(thread, NULL);
    return seen != 42;
}
