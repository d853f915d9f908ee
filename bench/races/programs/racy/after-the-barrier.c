#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t barrier;
static int sums[2], total;

static void *work(void *number) {
    sums[(size_t)number] = 21;
    pthread_barrier_wait(&barrier);
    total = sums[0] + sums[1]; /* RACE */
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return total != 42;
}
