/* A detached thread has ended before the next one begins, which gets its stack and thread-local variables from the C library. */
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static _Thread_local volatile int mine;
static atomic_int done;

static void *work(void *nothing) {
    volatile int own = ++mine;
    atomic_fetch_add_explicit(&done, own, memory_order_relaxed);
    return nothing;
}

int main(void) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 3; i++) {
        pthread_t thread;
        pthread_create(&thread, &detached, work, NULL);
        while (atomic_load_explicit(&done, memory_order_relaxed) <= i)
            usleep(1000);
        usleep(10000);
    }
    return atomic_load_explicit(&done, memory_order_relaxed) != 3;
}
