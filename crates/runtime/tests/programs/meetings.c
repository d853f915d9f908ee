/* Spin lock, barrier, semaphores (named, too), once, condition: one exchange each between main and one thread. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static sem_t semaphore, *named;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready, initialised;
static void initialise(void) { initialised++; }
static void *other(void *unused) {
    struct timespec past = {1, 0};
    pthread_spin_lock(&spin);
    pthread_spin_unlock(&spin);
    int serial = pthread_barrier_wait(&barrier);
    sem_wait(&semaphore);
    sem_wait(named);
    errno = 0;
    int tried = sem_trywait(&semaphore), tried_errno = errno;
    int timed = sem_timedwait(&semaphore, &past), timed_errno = errno;
    int clocked = sem_clockwait(&semaphore, CLOCK_MONOTONIC, &past), clocked_errno = errno;
    pthread_once(&once, initialise);
    pthread_mutex_lock(&mutex);
    printf("%d %d %d %d %d %d %d\n", serial == 0 || serial == PTHREAD_BARRIER_SERIAL_THREAD, tried, tried_errno, timed, timed_errno, clocked, clocked_errno);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(void) {
    pthread_t thread;
    char name[64];
    struct timespec past = {1, 0};
    snprintf(name, sizeof name, "/unpick-test-%d", getpid());
    named = sem_open(name, O_CREAT, 0600, 0);
    sem_unlink(name);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, NULL, other, NULL);
    pthread_barrier_wait(&barrier);
    pthread_once(&once, initialise);
    printf("spin %d %d\n", pthread_spin_trylock(&spin), pthread_spin_trylock(&spin));
    pthread_spin_unlock(&spin);
    sem_post(&semaphore);
    sem_post(named);
    while (!ready) pthread_cond_wait(&condition, &mutex);
    printf("timed out %d %d\n", pthread_cond_timedwait(&condition, &mutex, &past), pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &past));
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    printf("%d %d %d\n", initialised, pthread_barrier_destroy(&barrier), pthread_cond_destroy(&condition));
    return 0;
}
