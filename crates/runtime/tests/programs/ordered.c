// Threads whose order a schedule decides. The first argument says what they do. What is printed depends on the order only in
// `pair`, `lost`, `sections`, `disturbed`, `fork`, `exec`, `signal` and `returns-early`.
#define _GNU_SOURCE
// With IN_LIBRARY the places are in a library, with LOADS_LIBRARY in one that is loaded later.
#if defined IN_LIBRARY || defined LOADS_LIBRARY
#include "ordered.h"
#else
#include "ordered_places.c"
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void *(*work)(void *);
enum { MANY = 64 };
static int x, seen, total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t nested;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_changed;
static volatile sig_atomic_t handled, looking;
static char **arguments;

static pthread_t begin(work run) {
    pthread_t thread;
    pthread_create(&thread, 0, run, 0);
    return thread;
}

static void both(work first, work second) {
    pthread_t one = begin(first), other = begin(second);
    pthread_join(one, 0);
    pthread_join(other, 0);
}

PLACE static void *putter(void *unused) { put(&x); return unused; }
PLACE static void *looker(void *unused) { seen = look(&x); return unused; }
PLACE static void *adder(void *unused) { add(&x); return unused; }

static void pair(void) {
    both(putter, looker);
    printf("%d\n", seen);
}

static void lost(void) {
    both(adder, adder);
    printf("%d\n", x);
}

// Looks and puts under one lock each: the other may come in between.
PLACE static void *in_two_sections(void *unused) {
    pthread_mutex_lock(&lock);
    int old = look(&x);
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    put(&x);
    x += old;
    pthread_mutex_unlock(&lock);
    return unused;
}

PLACE static void *in_one_section(void *unused) {
    pthread_mutex_lock(&lock);
    add(&x);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void sections(void) {
    both(in_two_sections, in_one_section);
    printf("%d\n", x);
}

// All take the lock by one function. A third thread looks, if it can, before the second adds; it is waited for so many milliseconds, or to its end.
PLACE static void take(void) { pthread_mutex_lock(&lock); }

PLACE static void *looks_between(void *unused) {
    take();
    seen = x;
    pthread_mutex_unlock(&lock);
    __atomic_store_n(&is_changed, 1, __ATOMIC_SEQ_CST);
    return unused;
}

PLACE static void *takes_twice(void *unused) {
    take();
    int old = look(&x);
    pthread_mutex_unlock(&lock);
    take();
    put(&x);
    x += old;
    pthread_mutex_unlock(&lock);
    return unused;
}

PLACE static void *lets_look_and_adds(void *unused) {
    pthread_t third = begin(looks_between);
    int is_awaited = !strcmp(arguments[2], "to-its-end");
    if (is_awaited) pthread_join(third, 0);
    for (int left = atoi(arguments[2]); left && !__atomic_load_n(&is_changed, __ATOMIC_SEQ_CST); left--) usleep(1000);
    take();
    add(&x);
    pthread_mutex_unlock(&lock);
    if (!is_awaited) pthread_join(third, 0);
    return unused;
}

static void disturbed(void) {
    both(takes_twice, lets_look_and_adds);
    printf("%d %d\n", seen, x);
}

static void locked(void) {
    both(in_one_section, in_one_section);
    printf("%d\n", x);
}

PLACE static void *in_nested_sections(void *unused) {
    pthread_mutex_lock(&nested);
    pthread_mutex_lock(&nested);
    add(&x);
    pthread_mutex_unlock(&nested);
    add(&x);
    pthread_mutex_unlock(&nested);
    return unused;
}

static void recursive(void) {
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&nested, &kind);
    both(in_nested_sections, in_nested_sections);
    printf("%d\n", x);
}

PLACE static void *waits_for_change(void *unused) {
    pthread_mutex_lock(&lock);
    total = look(&x);
    while (!is_changed) pthread_cond_wait(&changed, &lock);
    total += look(&x);
    pthread_mutex_unlock(&lock);
    return unused;
}

PLACE static void *changes(void *unused) {
    pthread_mutex_lock(&lock);
    put(&x);
    is_changed = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void condition(void) {
    both(waits_for_change, changes);
    printf("%d\n", x);
}

static void many(void) {
    pthread_t threads[MANY];
    for (int i = 0; i < MANY; i++) threads[i] = begin(i % 2 ? in_one_section : looker);
    for (int i = 0; i < MANY; i++) pthread_join(threads[i], 0);
    printf("%d\n", x);
}

static void forks(void) {
    pthread_t held = begin(looker);
    usleep(20000);
    pid_t child = fork();
    if (!child) {
        int own = 0;
        put(&own);
        _exit(look(&own) + 40);
    }
    int status;
    waitpid(child, &status, 0);
    pthread_t other = begin(putter);
    pthread_join(held, 0);
    pthread_join(other, 0);
    printf("%d %d\n", WEXITSTATUS(status), seen);
}

static void executes(void) {
    begin(looker);
    usleep(20000);
    execl(arguments[0], arguments[0], "pair", (char *)0);
}

static void handle(int unused) {
    int own = unused;
    put(&own);
    handled += look(&own);
}

static void *says_so_and_looks(void *unused) {
    looking = gettid();
    return looker(unused);
}

// Whether the kernel has the thread asleep, as one that is held.
static int sleeps(int thread) {
    char name[64], text[512] = "";
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(name, "r");
    if (!file) return 0;
    char *end = fgets(text, sizeof text, file) ? strrchr(text, ')') : 0;
    fclose(file);
    return end && end[2] == 'S';
}

static void signals(void) {
    signal(SIGUSR1, handle);
    pthread_t held = begin(says_so_and_looks);
    // Before it is held its handler would be held in its place.
    while (!looking || !sleeps(looking)) usleep(1000);
    for (int i = 1; i <= 10; i++) {
        pthread_kill(held, SIGUSR1);
        while (handled < i) usleep(1000);
    }
    pthread_t other = begin(putter);
    pthread_join(held, 0);
    pthread_join(other, 0);
    printf("%d %d\n", handled, seen);
}

static void *looks_for_long(void *is_at_once) {
    if (is_at_once) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
    for (;;) {
        look(&x);
        pthread_testcancel();
    }
}

static void cancels(void *is_at_once) {
    pthread_t held;
    void *result;
    pthread_create(&held, 0, looks_for_long, is_at_once);
    usleep(20000);
    pthread_cancel(held);
    pthread_join(held, &result);
    both(putter, looker);
    printf("%d\n", result == PTHREAD_CANCELED);
}

static void cancels_later(void) { cancels(0); }
static void cancels_at_once(void) { cancels(&x); }

// A call through a register.
PLACE static void *through_register(void *unused) {
    void (*volatile slot)(int *) = put;
    void (*called)(int *) = slot;
    __asm__ volatile("" : "+r"(called));
    called(&x);
    return unused;
}

static void indirect(void) {
    both(through_register, looker);
    printf("%d\n", x);
}

static int done;

static void *looks_once(void *unused) {
    look(&x);
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    return unused;
}

// Somebody is always able to go on.
static void busy(void) {
    int all = atoi(arguments[2]);
    pthread_t threads[MANY];
    for (int i = 0; i < all; i++) threads[i] = begin(looks_once);
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < all) usleep(1000);
    for (int i = 0; i < all; i++) pthread_join(threads[i], 0);
    printf("%d\n", done);
}

static void dies(void) {
    begin(looker);
    begin(putter);
    raise(SIGTERM);
}

static void leaves(void) {
    both(putter, looker);
    exit(7);
}

// Looks some time after the process could have ended, and says before that it does.
static int is_about_to_look;
static void *looks_late(void *unused) {
    usleep(50000);
    __atomic_store_n(&is_about_to_look, 1, __ATOMIC_SEQ_CST);
    return looker(unused);
}

// Never looks.
static void *waits_for_ever(void *unused) {
    pthread_mutex_lock(&lock);
    while (!is_changed) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return looker(unused);
}

static void says_whether(void) { printf("%d\n", __atomic_load_n(&is_about_to_look, __ATOMIC_SEQ_CST)); }

static void leaves_before(work other) {
    atexit(says_whether);
    put(&x);
    begin(other);
}

static void returns_early(void) { leaves_before(looks_late); }
static void returns_in_vain(void) { leaves_before(waits_for_ever); }

static void leaves_early(void) {
    leaves_before(looks_late);
    _exit(0);
}

static void fails_early(void) {
    leaves_before(looks_late);
    exit(7);
}

PLACE static void *looks_and_adds(void *unused) {
    look(&x);
    add(&x);
    return unused;
}

PLACE static void *puts_and_leaves(void *unused) {
    put(&x);
    _exit(7);
    return unused;
}

// What the putter does next, or who waits for its end, ends the process.
static void leaves_after_end(void) {
    begin(looks_and_adds);
    pthread_join(begin(putter), 0);
    _exit(7);
}

static void leaves_after_put(void) { both(looks_and_adds, puts_and_leaves); }

// Looks in one call, and puts in the next.
PLACE static void looks_or_puts(int is_second) {
    if (is_second) put(&x);
    else look(&x);
}

PLACE static void *calls_twice(void *unused) {
    for (volatile int i = 0; i < 2; i++) looks_or_puts(i);
    return unused;
}

PLACE static void *calls_adder(void *unused) { return adder(unused); }

static void across_calls(void) { both(calls_twice, calls_adder); }

#ifdef LOADS_LIBRARY
static void (*put_there)(int *);
static int (*look_there)(int *);
static int objects[3], *object;
static void *puts_there(void *unused) { put_there(object); return unused; }
static void *looks_there(void *unused) { seen = look_there(object); return unused; }

// Three times: the library may come to the same address again. Each time with another object: what was once looked at has been
// looked at before.
static void loads(void) {
    for (int i = 0; i < 3; i++) {
        void *library = dlopen(arguments[2], RTLD_NOW);
        if (!library) exit(3);
        put_there = (void (*)(int *))dlsym(library, "put");
        look_there = (int (*)(int *))dlsym(library, "look");
        object = &objects[i];
        both(puts_there, looks_there);
        printf("%d\n", seen);
        dlclose(library);
    }
}
void put(int *at) { put_there(at); }
int look(int *at) { return look_there(at); }
void add(int *at) { *at += 1; }
#endif

int main(int count, char **given) {
    static const struct { const char *name; void (*run)(void); } ALL[] = {
        {"pair", pair}, {"lost", lost}, {"sections", sections}, {"disturbed", disturbed}, {"locked", locked},
        {"recursive", recursive}, {"condition", condition}, {"many", many}, {"fork", forks},
        {"exec", executes}, {"signal", signals}, {"cancel", cancels_later},
        {"cancel-at-once", cancels_at_once}, {"indirect", indirect}, {"dies", dies}, {"leaves", leaves},
        {"busy", busy}, {"returns-early", returns_early}, {"leaves-early", leaves_early},
        {"returns-in-vain", returns_in_vain}, {"fails-early", fails_early}, {"leaves-after-end", leaves_after_end},
        {"leaves-after-put", leaves_after_put}, {"across-calls", across_calls},
#ifdef LOADS_LIBRARY
        {"loads", loads},
#endif
    };
    arguments = given;
    for (size_t i = 0; count > 1 && i < sizeof ALL / sizeof *ALL; i++)
        if (!strcmp(given[1], ALL[i].name)) return ALL[i].run(), 0;
    return 2;
}
