#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static int result;

static void *work(void *nothing) {
    result = 42; /* RACE */
    return nothing;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&lock);
    while (pthread_cond_timedwait(&done, &lock, &until) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&lock);
    printf("%d\n", result); /* RACE */
    pthread_join(thread, NULL);
    return 0;
}
