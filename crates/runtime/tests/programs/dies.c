/* Dies in the way its argument says, after two threads have met. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static int value;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *adds(void *unused) {
    pthread_mutex_lock(&mutex);
    value++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
int main(int count, char **arguments) {
    pthread_t thread;
    const char *how = arguments[1];
    (void)count;
    adds(NULL);
    pthread_create(&thread, NULL, adds, NULL);
    pthread_join(thread, NULL);
    printf("%d\n", value);
    fflush(stdout);
    if (!strcmp(how, "return")) return 3;
    if (!strcmp(how, "exit")) exit(4);
    if (!strcmp(how, "_exit")) _exit(5);
    if (!strcmp(how, "_Exit")) _Exit(6);
    if (!strcmp(how, "quick_exit")) quick_exit(7);
    if (!strcmp(how, "exit_group")) syscall(SYS_exit_group, 8);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "kill")) kill(getpid(), SIGKILL);
    if (!strcmp(how, "segv")) *(volatile int *)8 = value;
    if (!strcmp(how, "term")) raise(SIGTERM);
    return 1;
}
