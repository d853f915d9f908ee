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
        slot.value = i; /* RACE */
        atomic_store_explicit(&slot.stamp, 2 * i + 1, memory_order_relaxed);
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
        sum += slot.value; /* RACE */
        atomic_store_explicit(&slot.stamp, 2 * i + 2, memory_order_release);
    }
    pthread_join(thread, NULL);
    return sum != ROUNDS * (ROUNDS - 1) / 2;
}
