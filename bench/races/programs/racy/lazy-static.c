#include <pthread.h>
#include <stdio.h>

#include "../schedule.h"

static int is_initialised;
static int table[4];

static const int *squares(void) {
    if (!is_initialised) { /* RACE */
        for (int i = 0; i < 4; i++)
            table[i] = i * i;   /* RACE */
        is_initialised = 1; /* RACE */
    }
    return table;
}

static void *first(void *nothing) {
    printf("%d\n", squares()[2]);
    next_turn();
    return nothing;
}

static void *second(void *nothing) {
    await_turn(1);
    printf("%d\n", squares()[3]); /* RACE */
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
