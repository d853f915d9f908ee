// `handed` is touched by main alone before the worker exists; `counter` is read a hundred times by main at one place.
#include <pthread.h>
#include <stdio.h>

static int handed;
static volatile int counter;

static void *worker(void *unused) {
    counter = handed + 1;
    return unused;
}

int main(void) {
    pthread_t thread;
    int total = 0;
    handed = 41;
    pthread_create(&thread, 0, worker, 0);
    pthread_join(thread, 0);
    for (int i = 0; i < 100; i++)
        total += counter;
    printf("%d\n", total);
    return 0;
}
