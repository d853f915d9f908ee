/* A table of buckets that grow on demand: each entry says itself whether it has a value. */
#include "../schedule.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct entry {
    int present;
    int value;
};

static struct entry *_Atomic bucket;
static atomic_int unrelated;

static void *insert(void *nothing) {
    struct entry *fresh = malloc(4 * sizeof *fresh);
    for (int i = 0; i < 4; i++)
        fresh[i].present = 0; /* RACE */
    atomic_store_explicit(&bucket, fresh, memory_order_release);
    next_turn();
    await_turn(2);
    fresh[0].value = 7;
    __atomic_store_n(&fresh[0].present, 1, __ATOMIC_RELEASE);
    atomic_store_explicit(&unrelated, 1, memory_order_release);
    next_turn();
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, insert, NULL);
    await_turn(1);
    struct entry *found = atomic_load_explicit(&bucket, memory_order_relaxed);
    int sum = 0;
    for (int i = 0; i < 4; i++)
        if (__atomic_load_n(&found[i].present, __ATOMIC_ACQUIRE)) /* RACE */
            sum += found[i].value;
    next_turn();
    await_turn(3);
    sum += atomic_load_explicit(&unrelated, memory_order_acquire);
    if (__atomic_load_n(&found[0].present, __ATOMIC_ACQUIRE))
        sum += found[0].value;
    pthread_join(thread, NULL);
    free(found);
    return sum != 8;
}
