/* futex by syscall(), and other numbers with their answers and errno. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static atomic_int word;
static void *other(void *unused) {
    usleep(50000);
    atomic_store(&word, 1);
    long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    printf("woken %ld\n", woken);
    return unused;
}
int main(void) {
    pthread_t thread;
    errno = 0;
    printf("mismatch %ld %d\n", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 5, NULL, NULL, 0), errno);
    struct timespec little = {0, 1000000};
    printf("timeout %ld %d\n", syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &little, NULL, 0), errno);
    pthread_create(&thread, NULL, other, NULL);
    while (atomic_load(&word) == 0) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    pthread_join(thread, NULL);
    errno = 0;
    printf("bad %ld %d\n", syscall(SYS_close, -1), errno);
    printf("unknown %ld %d\n", syscall(99999), errno);
    /* six arguments, the last of which lies on the stack */
    FILE *file = tmpfile();
    char page[8192] = {0};
    page[4096] = 'x';
    fwrite(page, 1, sizeof page, file);
    fflush(file);
    char *mapped = (char *)syscall(SYS_mmap, NULL, 4096L, PROT_READ, MAP_PRIVATE, fileno(file), 4096L);
    printf("mapped %c %d\n", mapped[0], syscall(SYS_getpid) == getpid());
    return 0;
}
