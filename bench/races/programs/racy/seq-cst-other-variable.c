#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "../schedule.h"

static int data;
static atomic_int mine, yours;

static void *publish(void *nothing) {
    data = 42; /* RACE */
    atomic_store(&mine, 1);
    next_turn();
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    await_turn(1);
    atomic_load(&yours);
    printf("%d\n", data); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
