#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct config {
    int depth;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(struct config *) config;

static struct config *get_config(void) {
    struct config *seen = atomic_load_explicit(&config, memory_order_acquire);
    if (seen)
        return seen;
    pthread_mutex_lock(&lock);
    seen = atomic_load_explicit(&config, memory_order_relaxed);
    if (!seen) {
        seen = malloc(sizeof *seen);
        seen->depth = 7;
        atomic_store_explicit(&config, seen, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return seen;
}

static void *work(void *nothing) { return get_config()->depth == 7 ? nothing : &lock; }

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    free(atomic_load(&config));
    return 0;
}
