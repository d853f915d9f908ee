/* A timer at 1 kHz whose handler touches shared atomics, on a small alternate stack, against threads that lock and
 * allocate; and longjmp out of deep calls. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static atomic_int ticks;
static atomic_int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static int value;
static void tick(int number) {
    (void)number;
    int saved = errno;
    atomic_fetch_add(&ticks, 1);
    if (atomic_load(&ticks) % 16 == 0) sem_post(&semaphore);
    errno = saved;
}
static void *works(void *unused) {
    int rounds = 0;
    stack_t stack = {.ss_sp = malloc(MINSIGSTKSZ + 4096), .ss_size = MINSIGSTKSZ + 4096};
    sigaltstack(&stack, NULL);
    while (!atomic_load(&stop) && atomic_load(&ticks) >= 0) {
        pthread_mutex_lock(&mutex);
        value++;
        pthread_mutex_unlock(&mutex);
        char *memory = malloc(100);
        memset(memory, 1, 100);
        free(memory);
        /* Not too much to record in two seconds. */
        if (++rounds % 16 == 0) usleep(200);
    }
    return unused;
}
static jmp_buf back;
static void deep(int levels) {
    if (levels == 0) longjmp(back, 1);
    deep(levels - 1);
    value--;
}
int main(void) {
    pthread_t threads[3];
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_ONSTACK | SA_RESTART};
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    sem_init(&semaphore, 0, 0);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, works, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    volatile int jumps = 0;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        if (setjmp(back) == 0) deep(30);
        jumps++;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 2);
    timer.it_value.tv_usec = timer.it_interval.tv_usec = 0;
    setitimer(ITIMER_REAL, &timer, NULL);
    atomic_store(&stop, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("%d %d\n", atomic_load(&ticks) > 100, jumps > 0 && value > 0);
    return 0;
}
