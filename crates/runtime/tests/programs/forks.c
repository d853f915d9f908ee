/* Forks with other threads running; both sides go on with threads, locks and memory of their own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_int stop;
static int shared, *heap;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *busy(void *unused) {
    while (!atomic_load(&stop)) heap[0]++;
    return unused;
}
static void *adds(void *unused) {
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static int with_two_threads(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, adds, NULL);
    pthread_create(&two, NULL, adds, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return shared;
}
/* In the child this runs inside of fork. */
static void after_fork(void) { adds(NULL); }
static int cloned(void *argument) { _exit(with_two_threads() + *(int *)argument); }
static int status_of(pid_t child) {
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
int main(void) {
    pthread_t worker;
    heap = calloc(1000, sizeof *heap);
    pthread_atfork(NULL, NULL, after_fork);
    pthread_create(&worker, NULL, busy, NULL);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            heap[1] = 5;
            pid_t grandchild = fork();
            if (grandchild == 0) exit(with_two_threads() + 20);
            _exit(status_of(grandchild));
        }
        printf("fork %d\n", status_of(child));
        fflush(stdout);
    }
    pid_t raw = (pid_t)syscall(SYS_fork);
    if (raw == 0) _exit(with_two_threads() + 30);
    printf("raw %d\n", status_of(raw));
    int forty = 40;
    char *stack = malloc(1 << 16);
    printf("clone %d\n", status_of(clone(cloned, stack + (1 << 16), SIGCHLD, &forty)));
    pid_t quick = vfork();
    if (quick == 0) _exit(7);
    printf("vfork %d\n", status_of(quick));
    quick = vfork();
    if (quick == 0) { execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL); _exit(1); }
    printf("vfork and exec %d, system %d\n", status_of(quick), WEXITSTATUS(system("exit 4")));
    atomic_store(&stop, 1);
    pthread_join(worker, NULL);
    return with_two_threads();
}
