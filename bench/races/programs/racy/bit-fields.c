#include <pthread.h>
#include <stddef.h>

static struct {
    unsigned is_open : 1;
    unsigned is_dirty : 1;
} flags;

static void *open_it(void *nothing) {
    flags.is_open = 1; /* RACE */
    return nothing;
}

static void *soil_it(void *nothing) {
    flags.is_dirty = 1; /* RACE */
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, open_it, NULL);
    pthread_create(&threads[1], NULL, soil_it, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return !flags.is_open && !flags.is_dirty;
}
