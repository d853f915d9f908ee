#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../schedule.h"

static atomic_uint sequence;
static int width, height;

static void *resize(void *nothing) {
    await_turn(1);
    atomic_fetch_add_explicit(&sequence, 1, memory_order_acq_rel);
    width = 1920;  /* RACE */
    height = 1080; /* RACE */
    atomic_fetch_add_explicit(&sequence, 1, memory_order_release);
    return nothing;
}

static int area(void) {
    for (;;) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        int result = width * height; /* RACE */
        atomic_thread_fence(memory_order_acquire);
        if (before % 2 == 0 && atomic_load_explicit(&sequence, memory_order_relaxed) == before)
            return result;
    }
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, resize, NULL);
    printf("%d\n", area());
    next_turn();
    pthread_join(thread, NULL);
    return 0;
}
