#include <pthread.h>
#include <sched.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *by_trying(void *nothing) {
    for (int i = 0; i < 10; i++) {
        while (pthread_mutex_trylock(&lock) != 0)
            sched_yield();
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

static void *by_waiting(void *nothing) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    for (int i = 0; i < 10; i++) {
        if (pthread_mutex_timedlock(&lock, &until) != 0)
            return &lock;
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return nothing;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, by_trying, NULL);
    pthread_create(&threads[1], NULL, by_waiting, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter != 20;
}
