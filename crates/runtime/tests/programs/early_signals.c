/* Signals for threads that have hardly begun; and masks of signals, which creation must leave as they are: of who creates,
 * whether or not it succeeds, and of the new thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>
static sem_t handled;
static atomic_int stop;
static void handler(int number) {
    (void)number;
    sem_post(&handled);
}
static void *waits(void *unused) {
    while (sem_wait(&handled)) {}
    return unused;
}
static int waits_c11(void *unused) {
    (void)unused;
    while (sem_wait(&handled)) {}
    return 0;
}
static void get_signals_early(void) {
    for (int round = 0; round < 100; round++) {
        pthread_t thread;
        pthread_create(&thread, NULL, waits, NULL);
        pthread_kill(thread, SIGUSR1);
        pthread_join(thread, NULL);
        thrd_create(&thread, waits_c11, NULL);
        pthread_kill(thread, SIGUSR1);
        thrd_join(thread, NULL);
    }
}
/* The usual way to end a thread without cancellation. */
static void exits(int number) {
    (void)number;
    pthread_exit(&handled);
}
static void *pauses(void *unused) {
    for (;;) pause();
    return unused;
}
static void exit_early(void) {
    int exited = 0;
    signal(SIGUSR2, exits);
    for (int round = 0; round < 100; round++) {
        pthread_t thread;
        void *answer;
        pthread_create(&thread, NULL, pauses, NULL);
        pthread_kill(thread, SIGUSR2);
        pthread_join(thread, &answer);
        exited += answer == &handled;
    }
    printf("exited %d\n", exited);
}
/* Also the C library's own signals, which it does not show. */
static void print_mask(const char *whose) {
    char line[256];
    FILE *status = fopen("/proc/thread-self/status", "r");
    while (fgets(line, sizeof line, status))
        if (sscanf(line, "SigBlk: %255s", line) == 1) printf("%s %s\n", whose, line);
    fclose(status);
}
static void *prints_mask(void *unused) {
    print_mask("  new");
    return unused;
}
static int prints_mask_c11(void *unused) {
    (void)unused;
    print_mask("  new by C11");
    return 0;
}
static void *creates(void *unused) {
    pthread_t thread;
    pthread_create(&thread, NULL, prints_mask, NULL);
    pthread_join(thread, NULL);
    return unused;
}
static void create_under(const char *name, const sigset_t *mask, const pthread_attr_t *attributes) {
    pthread_t thread;
    sigset_t before;
    printf("%s\n", name);
    pthread_sigmask(SIG_SETMASK, mask, &before);
    pthread_create(&thread, attributes, prints_mask, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, attributes, creates, NULL);
    pthread_join(thread, NULL);
    thrd_create(&thread, prints_mask_c11, NULL);
    thrd_join(thread, NULL);
    print_mask("  creator");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
static void create_under_masks(void) {
    pthread_attr_t plain, own;
    sigset_t none, some, all;
    sigemptyset(&none);
    sigemptyset(&some);
    sigaddset(&some, SIGUSR2);
    sigaddset(&some, SIGSEGV);
    sigaddset(&some, SIGRTMIN + 3);
    sigfillset(&all);
    create_under("none", &none, NULL);
    create_under("some", &some, NULL);
    create_under("all", &all, NULL);
    pthread_attr_init(&plain);
    create_under("some, attributes without a mask", &some, &plain);
    pthread_attr_init(&own);
    pthread_attr_setsigmask_np(&own, &all);
    create_under("some, attributes with all", &some, &own);
    pthread_attr_setsigmask_np(&own, &none);
    create_under("all, attributes with none", &all, &own);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGTRAP);
    sigdelset(&all, SIGSYS);
    pthread_attr_setsigmask_np(&own, &all);
    create_under("none, attributes with all but those of faults", &none, &own);
}
static void fail_to_create(void) {
    pthread_t thread;
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, 1UL << 50);
    printf("fails: %d\n", pthread_create(&thread, &huge, waits, NULL) != 0);
    print_mask("  creator");
}
/* Creation stores the handle: a program may handle the fault this causes. */
static void *page;
static void open_page(int number) {
    (void)number;
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}
static void create_with_fault(void) {
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, open_page);
    int answer = pthread_create(page, NULL, prints_mask, NULL);
    pthread_join(*(pthread_t *)page, NULL);
    printf("faults: %d\n", answer);
}
/* Who changes its user signals all threads, and waits for them. */
static void *changes_user(void *unused) {
    while (!atomic_load(&stop)) setuid(getuid());
    return unused;
}
static void *nothing(void *unused) { return unused; }
static void create_while_user_changes(void) {
    pthread_t changer, thread;
    pthread_create(&changer, NULL, changes_user, NULL);
    for (int round = 0; round < 1000; round++) {
        pthread_create(&thread, NULL, nothing, NULL);
        pthread_join(thread, NULL);
    }
    atomic_store(&stop, 1);
    pthread_join(changer, NULL);
}
int main(int count, char **arguments) {
    (void)arguments;
    setvbuf(stdout, NULL, _IOLBF, 0);
    sem_init(&handled, 0, 0);
    signal(SIGUSR1, handler);
    get_signals_early();
    if (count == 1) return 0;
    exit_early();
    create_under_masks();
    fail_to_create();
    create_with_fault();
    create_while_user_changes();
    printf("done\n");
    return 0;
}
