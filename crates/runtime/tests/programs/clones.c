/* A thread that the C library knows nothing of, with thread-local storage of its own. */
#define _GNU_SOURCE
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <asm/prctl.h>
#include <sys/syscall.h>
static sem_t semaphore;
static int child(void *unused) {
    (void)unused;
    sem_post(&semaphore);
    return 0;
}
int main(void) {
    /* A copy of our own thread-local storage, but unknown to the recorder: its static part is zero. */
    unsigned long here;
    syscall(SYS_arch_prctl, ARCH_GET_FS, &here);
    char *block = calloc(1, 1 << 16);
    char *there = (char *)(((unsigned long)block + (1 << 15)) & ~4095UL);
    memcpy(there, (void *)here, 2304);
    *(void **)there = there;
    *(void **)(there + 16) = there;
    char *stack = malloc(1 << 16);
    sem_init(&semaphore, 0, 0);
    int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_SETTLS | SIGCHLD;
    pid_t made = clone(child, stack + (1 << 16), flags, NULL, NULL, there, NULL);
    sem_wait(&semaphore);
    int status = -1;
    waitpid(made, &status, 0);
    printf("%d\n", status);
    return 0;
}
