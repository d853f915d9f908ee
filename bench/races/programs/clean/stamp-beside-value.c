/* A slot of a bounded queue: its stamp says whether the value beside it may be read, and by whom it may be overwritten. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { ROUNDS = 20 };

static struct {
    atomic_int stamp;
    int value;
} slot;

static void *push(void *nothing) {
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load_explicit(&slot.stamp, memory_order_acquire) != 2 * i)
            sched_yield();
        slot.value = i;
        atomic_store_explicit(&slot.stamp, 2 * i + 1, memory_order_release);
    }
    return nothing;
}

int main(void) {
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, push, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        while (atomic_load_explicit(&slot.stamp, memory_order_acquire) != 2 * i + 1)
            sched_yield();
        sum += slot.value;
        atomic_store_explicit(&slot.stamp, 2 * i + 2, memory_order_release);
    }
    pthread_join(thread, NULL);
    return sum != ROUNDS * (ROUNDS - 1) / 2;
}
