#include <pthread.h>
#include <stddef.h>

#include "../schedule.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *announce(void *nothing) {
    await_turn(1);
    ready = 1; /* RACE */
    /* Too late to take it. */
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, announce, NULL);
    pthread_mutex_lock(&lock);
    int is_ready = ready; /* RACE */
    next_turn();
    while (!is_ready) {
        pthread_cond_wait(&changed, &lock);
        is_ready = ready;
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
