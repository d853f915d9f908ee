/* 10,000 threads over the run, 1,000 of them alive at a time; small stacks, some detached. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>
static atomic_int begun, gone;
static pthread_barrier_t all;
static void *with_others(void *unused) {
    atomic_fetch_add(&begun, 1);
    pthread_barrier_wait(&all);
    return unused;
}
static void *alone(void *unused) {
    atomic_fetch_add(&begun, 1);
    atomic_fetch_add(&gone, 1);
    return unused;
}
int main(void) {
    static pthread_t threads[1000];
    pthread_attr_t small, detached;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_barrier_init(&all, NULL, 1001);
    for (int i = 0; i < 1000; i++)
        if (pthread_create(&threads[i], &small, with_others, NULL)) return 1;
    pthread_barrier_wait(&all);
    for (int i = 0; i < 1000; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < 8900; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, alone, NULL)) return 1;
        pthread_join(thread, NULL);
    }
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &detached, alone, NULL)) return 1;
    }
    while (atomic_load(&gone) < 9000) usleep(1000);
    printf("%d\n", atomic_load(&begun));
    return 0;
}
