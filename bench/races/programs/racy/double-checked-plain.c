#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../schedule.h"

struct config {
    int depth;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config *config;

static struct config *get_config(void) {
    if (config == NULL) { /* RACE */
        pthread_mutex_lock(&lock);
        if (config == NULL) {
            struct config *fresh = malloc(sizeof *fresh);
            fresh->depth = 7; /* RACE */
            config = fresh;   /* RACE */
        }
        pthread_mutex_unlock(&lock);
    }
    return config; /* RACE */
}

static void *first(void *nothing) {
    get_config();
    next_turn();
    return nothing;
}

static void *second(void *nothing) {
    await_turn(1);
    printf("%d\n", get_config()->depth); /* RACE */
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    free(config);
    return 0;
}
