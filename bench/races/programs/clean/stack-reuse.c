#include <pthread.h>
#include <stddef.h>

#include "../schedule.h"

/* Threads that end and begin one after the other get the same stack, without knowing of each other. */
static void *use_stack(void *nothing) {
    volatile int numbers[64];
    for (int i = 0; i < 64; i++)
        numbers[i] = i;
    return numbers[63] == 63 ? nothing : &schedule_turn;
}

static void *start_one(void *turn) {
    pthread_t thread;
    await_turn(*(int *)turn);
    pthread_create(&thread, NULL, use_stack, NULL);
    pthread_join(thread, NULL);
    next_turn();
    return NULL;
}

int main(void) {
    pthread_t starters[3];
    int turns[3] = {0, 1, 2};
    for (int i = 0; i < 3; i++)
        pthread_create(&starters[i], NULL, start_one, &turns[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(starters[i], NULL);
    return 0;
}
