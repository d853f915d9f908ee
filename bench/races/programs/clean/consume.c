#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct settings {
    int depth;
};

static struct settings settings;
static _Atomic(struct settings *) current;

static void *publish(void *nothing) {
    settings.depth = 42;
    atomic_store_explicit(&current, &settings, memory_order_release);
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    struct settings *seen;
    while ((seen = atomic_load_explicit(&current, memory_order_consume)) == NULL)
        ;
    int depth = seen->depth;
    pthread_join(thread, NULL);
    return depth != 42;
}
