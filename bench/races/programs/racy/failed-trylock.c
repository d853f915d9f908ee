#include <pthread.h>
#include <stddef.h>

#include "../schedule.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *hold(void *nothing) {
    pthread_mutex_lock(&lock);
    counter++; /* RACE */
    next_turn();
    await_turn(2);
    pthread_mutex_unlock(&lock);
    return nothing;
}

static void *try_once(void *nothing) {
    await_turn(1);
    int failed = pthread_mutex_trylock(&lock);
    counter++; /* RACE */
    if (!failed)
        pthread_mutex_unlock(&lock);
    next_turn();
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, hold, NULL);
    pthread_create(&threads[1], NULL, try_once, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter == 0;
}
