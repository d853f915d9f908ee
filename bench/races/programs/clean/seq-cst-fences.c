#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

/* Peterson's lock of two threads, by relaxed accesses and fences alone. */
static atomic_int wants[2], turn;
static int shared;

static void enter(int own) {
    atomic_store_explicit(&wants[own], 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    /* Who comes second reads what the first one wrote here, and with it all that it did before. */
    atomic_exchange_explicit(&turn, 1 - own, memory_order_acq_rel);
    atomic_thread_fence(memory_order_seq_cst);
    while (atomic_load_explicit(&wants[1 - own], memory_order_relaxed) &&
           atomic_load_explicit(&turn, memory_order_relaxed) == 1 - own)
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
}

static void leave(int own) {
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&wants[own], 0, memory_order_relaxed);
}

static void *work(void *number) {
    int own = (int)(size_t)number;
    for (int i = 0; i < 10; i++) {
        enter(own);
        shared++;
        leave(own);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return shared != 20;
}
