#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static int data;
static atomic_int ready;

static void *publish(void *nothing) {
    data = 42; /* RACE */
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    printf("%d\n", data); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
