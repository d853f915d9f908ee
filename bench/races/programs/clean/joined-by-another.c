#include <pthread.h>
#include <stddef.h>

static pthread_t worker;
static int result;

static void *work(void *nothing) {
    result = 42;
    return nothing;
}

static void *wait_for_worker(void *nothing) {
    pthread_join(worker, NULL);
    result++;
    return nothing;
}

int main(void) {
    pthread_t waiter;
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&waiter, NULL, wait_for_worker, NULL);
    pthread_join(waiter, NULL);
    return result != 43;
}
