#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static _Thread_local int own_count;
static _Atomic(int *) lent;

static void *work(void *nothing) {
    own_count = 41;
    atomic_store_explicit(&lent, &own_count, memory_order_release);
    while (atomic_load_explicit(&lent, memory_order_acquire) != NULL)
        ;
    return own_count == 42 ? nothing : &lent;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    int *count;
    while ((count = atomic_load_explicit(&lent, memory_order_acquire)) == NULL)
        ;
    ++*count;
    atomic_store_explicit(&lent, NULL, memory_order_release);
    void *failed;
    pthread_join(thread, &failed);
    return failed != NULL;
}
