/* One thread waits for a semaphore, then for a once, the first for both others to end. Nobody goes on before the other sleeps. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static sem_t turn;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_int waiter, steps;
static void until_it_sleeps_in_step(int step) {
    char path[64], stat[256];
    while (atomic_load(&steps) < step)
        usleep(1000);
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", atomic_load(&waiter));
    for (;;) {
        FILE *file = fopen(path, "r");
        size_t length = fread(stat, 1, sizeof stat - 1, file);
        fclose(file);
        stat[length] = 0;
        if (strstr(stat, ") S "))
            return;
        usleep(1000);
    }
}
static void prepare(void) {
    sem_post(&turn);
    until_it_sleeps_in_step(2);
}
static void *runs_it(void *unused) {
    pthread_once(&once, prepare);
    return unused;
}
static void *waits(void *unused) {
    atomic_store(&waiter, gettid());
    atomic_store(&steps, 1);
    sem_wait(&turn);
    atomic_store(&steps, 2);
    pthread_once(&once, prepare);
    return unused;
}
int main(void) {
    pthread_t waiting, running;
    sem_init(&turn, 0, 0);
    pthread_create(&waiting, NULL, waits, NULL);
    until_it_sleeps_in_step(1);
    pthread_create(&running, NULL, runs_it, NULL);
    pthread_join(running, NULL);
    pthread_join(waiting, NULL);
    return 0;
}
