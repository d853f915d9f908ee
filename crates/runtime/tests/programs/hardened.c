/* Closes all descriptors, leaves its folder, changes its root and user; goes on with threads after each. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *adds(void *unused) {
    pthread_mutex_lock(&mutex);
    value++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void two_threads(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, adds, NULL);
    pthread_create(&two, NULL, adds, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
}
int main(void) {
    for (int descriptor = 3; descriptor < 1024; descriptor++) close(descriptor);
    two_threads();
    if (chdir("/proc")) return 2;
    two_threads();
    if (geteuid() == 0 && (chroot("/proc") || chdir("/") || setgid(65534) || setuid(65534))) return 3;
    two_threads();
    clearenv();
    printf("%d %d\n", value, getuid() == 0);
    return 0;
}
