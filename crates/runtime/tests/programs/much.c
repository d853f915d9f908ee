// Two threads that take turns, so that every access is an event; far more than a small recording can hold.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define TURNS 5000

static atomic_int turn;
static long total, table[1024];

static void *take_turns(void *argument) {
    int mine = argument != 0;
    for (int i = 0; i < TURNS; i++) {
        while (atomic_load(&turn) % 2 != mine) sched_yield();
        total += i;
        table[i % 1024] += 1;
        atomic_fetch_add(&turn, 1);
    }
    return 0;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, take_turns, i ? &turn : 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    printf("%d %ld %ld\n", turn, total, table[7]);
    return 0;
}
