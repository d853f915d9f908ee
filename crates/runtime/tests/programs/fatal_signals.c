// Fails in the way its first argument says, while another thread waits. What is printed is the same with and without handlers of others.
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static sigjmp_buf back;
static int number;
static volatile int late, others;

static void *waits(void *unused) {
    others = 1;
    for (;;) pause();
    return unused;
}

static void crash(void) { *(volatile int *)8 = 1; }

static void *crashes(void *unused) {
    crash();
    return unused;
}

static void jumps(int signal) {
    printf("handled %d\n", signal);
    siglongjmp(back, 1);
}

// As a crash handler does that writes a report: sets the default action and returns, so that it crashes again.
static void reports(int signal, siginfo_t *information, void *context) {
    static const char text[] = "reported\n";
    struct sigaction standard = {.sa_handler = SIG_DFL};
    (void)context;
    write(1, text, sizeof text - 1);
    if (information->si_addr != (void *)8) abort();
    sigaction(signal, &standard, 0);
}

static void ask(const char *when) {
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction found;
        memset(&found, 0xff, sizeof found);
        sigaction(signals[i], 0, &found);
        printf("%s %d: %d %x %d\n", when, signals[i], found.sa_handler == SIG_DFL, found.sa_flags & ~0x4000000,
               sigismember(&found.sa_mask, SIGINT));
    }
}

static void ask_and_set(void) {
    struct sigaction own = {.sa_handler = jumps}, before;
    ask("first");
    errno = 0;
    printf("none %d %d\n", sigaction(9999, &own, 0), errno);
    sigaction(SIGSEGV, &own, &before);
    printf("default before %d\n", before.sa_handler == SIG_DFL);
    if (!sigsetjmp(back, 1)) crash();
    sigaction(SIGSEGV, &before, &own);
    printf("own before %d\n", own.sa_handler == jumps);
    printf("signal %d\n", signal(SIGFPE, jumps) == SIG_DFL);
    printf("signal again %d\n", signal(SIGFPE, SIG_DFL) == jumps);
    ask("last");
}

// Ends the process in an orderly way as soon as the thread that crashes is asleep, or dead.
static void leave_while_it_dies(void) {
    pthread_t thread;
    pthread_create(&thread, 0, crashes, 0);
    for (;;) {
        int alive = 0, running = 0;
        DIR *folder = opendir("/proc/self/task");
        for (struct dirent *entry; (entry = readdir(folder));) {
            char path[64], text[256] = "";
            if (entry->d_name[0] == '.' || atoi(entry->d_name) <= number) continue;
            snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", entry->d_name);
            FILE *file = fopen(path, "r");
            if (!file) continue;
            if (fgets(text, sizeof text, file)) alive++, running += strstr(text, ") S ") == 0;
            fclose(file);
        }
        closedir(folder);
        if (alive && !running) exit(0);
    }
}

// `late` is written by a thread that is about to do so when another one crashes.
static void *writes_late(void *unused) {
    others = 1;
    late = 1;
    return unused;
}

// Crashes as soon as the process has begun to end.
static volatile int leaving;
static void *crashes_at_exit(void *unused) {
    others = 1;
    while (!leaving) usleep(10);
    crash();
    return unused;
}
static void note_leaving(void) { leaving = 1; }

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    struct rlimit none = {0, 0};
    pthread_t thread;
    setrlimit(RLIMIT_CORE, &none);
    setvbuf(stdout, 0, _IONBF, 0);
    if (!strcmp(how, "ask")) return ask_and_set(), 0;
    number = late;
    if (strcmp(how, "alone")) {
        void *(*other)(void *) = !strncmp(how, "late", 4) ? writes_late : waits;
        if (!strcmp(how, "crash-at-exit")) other = crashes_at_exit;
        pthread_create(&thread, 0, other, 0);
        while (!others) usleep(100);
    }
    number = (int)syscall(SYS_gettid) + 1;
    puts(how);
    if (!strncmp(how, "late", 4)) usleep(200000);
    if (!strcmp(how, "late-exit")) exit(3);
    // Before our handler, which was set when the thread was made.
    if (!strcmp(how, "crash-at-exit")) atexit(note_leaving), exit(3);
    if (!strcmp(how, "leave")) leave_while_it_dies();
    if (!strcmp(how, "report")) {
        struct sigaction own = {.sa_sigaction = reports, .sa_flags = SA_SIGINFO};
        sigaction(SIGSEGV, &own, 0);
    }
    if (!strcmp(how, "own")) {
        signal(SIGSEGV, jumps);
        if (!sigsetjmp(back, 1)) crash();
        return 7;
    }
    if (!strcmp(how, "ignored")) signal(SIGABRT, SIG_IGN), raise(SIGABRT), puts("alive");
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "assert")) assert(number == 0);
    if (!strcmp(how, "divide")) number /= *(volatile int *)&(int){0};
    if (!strcmp(how, "illegal")) __builtin_trap();
    if (!strcmp(how, "kill")) kill(getpid(), SIGSEGV), pause();
    if (!strcmp(how, "raise")) raise(SIGBUS);
    crash();
    return 1;
}
