#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { SIZE = 4, MESSAGES = 20 };

static int slots[SIZE];
static atomic_uint written, taken;

static void *produce(void *nothing) {
    for (unsigned i = 0; i < MESSAGES; i++) {
        while (i - atomic_load_explicit(&taken, memory_order_acquire) == SIZE)
            sched_yield();
        slots[i % SIZE] = (int)i;
        atomic_store_explicit(&written, i + 1, memory_order_release);
    }
    return nothing;
}

int main(void) {
    pthread_t producer;
    int sum = 0;
    pthread_create(&producer, NULL, produce, NULL);
    for (unsigned i = 0; i < MESSAGES; i++) {
        while (atomic_load_explicit(&written, memory_order_acquire) == i)
            sched_yield();
        sum += slots[i % SIZE];
        atomic_store_explicit(&taken, i + 1, memory_order_release);
    }
    pthread_join(producer, NULL);
    return sum != MESSAGES * (MESSAGES - 1) / 2;
}
