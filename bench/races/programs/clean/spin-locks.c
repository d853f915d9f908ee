#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_flag own_lock = ATOMIC_FLAG_INIT;
static pthread_spinlock_t system_lock;
static int by_own, by_system;

static void *work(void *nothing) {
    for (int i = 0; i < 10; i++) {
        while (atomic_flag_test_and_set_explicit(&own_lock, memory_order_acquire))
            sched_yield();
        by_own++;
        atomic_flag_clear_explicit(&own_lock, memory_order_release);
        pthread_spin_lock(&system_lock);
        by_system++;
        pthread_spin_unlock(&system_lock);
    }
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_spin_init(&system_lock, PTHREAD_PROCESS_PRIVATE);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pthread_spin_destroy(&system_lock);
    return by_own != 20 || by_system != 20;
}
