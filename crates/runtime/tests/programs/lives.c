// The same address twice, for two different things: each is given to a thread of its own.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))

typedef struct { long value; } message;

// Threads 2, 3, … in the order of these calls.
static void *answer(void *argument) {
    ((message *)argument)->value += 1;
    return 0;
}

APART static void ask(message *question) {
    pthread_t thread;
    question->value = 1;
    pthread_create(&thread, 0, answer, question);
    pthread_join(thread, 0);
    if (question->value != 2) printf("wrong\n");
}

// Frames of the main thread: the second call has its local where the first had it.
APART static uintptr_t with_local(void) {
    message local;
    ask(&local);
    return (uintptr_t)&local;
}

// The stack of a thread that has ended serves the next.
static void *with_local_in_thread(void *unused) {
    message local;
    ask(&local);
    *(uintptr_t *)unused = (uintptr_t)&local;
    return 0;
}

static uintptr_t in_thread_by(void *(*function)(void *)) {
    uintptr_t where = 0;
    pthread_t thread;
    pthread_create(&thread, 0, function, &where);
    pthread_join(thread, 0);
    return where;
}

APART static uintptr_t in_thread(void) { return in_thread_by(with_local_in_thread); }

static __thread message own;

static void *with_own(void *where) {
    ask(&own);
    *(uintptr_t *)where = (uintptr_t)&own;
    return 0;
}

APART static uintptr_t thread_local_storage(void) { return in_thread_by(with_own); }

static uintptr_t wanted;

APART static uintptr_t mapped(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (wanted ? MAP_FIXED : 0);
    message *memory = mmap((void *)wanted, 1 << 16, PROT_READ | PROT_WRITE, flags, -1, 0);
    ask(memory);
    munmap(memory, 1 << 16);
    return wanted = (uintptr_t)memory;
}

// Memory that is mapped over, without having been unmapped.
APART static uintptr_t mapped_over(void) {
    static uintptr_t place;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | (place ? MAP_FIXED : 0);
    message *memory = mmap((void *)place, 1 << 16, PROT_READ | PROT_WRITE, flags, -1, 0);
    ask(memory);
    return place = (uintptr_t)memory;
}

int main(void) {
    uintptr_t (*ways[])(void) = {with_local, in_thread, mapped, mapped_over, thread_local_storage};
    const char *names[] = {"frame", "thread", "mapping", "mapped over", "storage"};
    for (int i = 0; i < 5; i++) {
        uintptr_t first = ways[i](), second = ways[i]();
        printf("%s %s\n", names[i], first == second ? "same" : "different");
        fprintf(stderr, "%s=%#jx\n", names[i], (uintmax_t)first);
    }
    return 0;
}
