#include <pthread.h>
#include <stddef.h>

enum { THREADS = 3, PHASES = 4 };

static pthread_barrier_t barrier;
static int cells[2][THREADS];

static void *step(void *number) {
    size_t own = (size_t)number, next = (own + 1) % THREADS;
    for (int phase = 0; phase < PHASES; phase++) {
        cells[(phase + 1) % 2][own] = cells[phase % 2][next] + 1;
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, step, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return cells[0][0] != PHASES;
}
