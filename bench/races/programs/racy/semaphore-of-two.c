#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>

#include "../schedule.h"

static sem_t places;
static int visitors;

/* Both are inside at the same time, as the semaphore allows. */
static void *visit(void *nothing) {
    sem_wait(&places);
    next_turn();
    await_turn(2);
    visitors++; /* RACE */
    next_turn();
    await_turn(4);
    sem_post(&places);
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    sem_init(&places, 0, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, visit, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return visitors == 0;
}
