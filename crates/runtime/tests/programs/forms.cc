// Each form of access that a compiler has a hook of its own for: first by the main thread, then by another.
#include <new>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

typedef __int128 wide;
#define APART __attribute__((noinline))

static int sum;
static volatile int looked_at;
static volatile short changed;
static wide atomic __attribute__((aligned(16)));
static wide results[6];

struct shape {
    virtual ~shape() {}
    virtual int sides() { return 0; }
};
struct square : shape {
    int sides() override { return 4; }
};
alignas(square) static char place[sizeof(square)];

APART static int count(shape *some) { return some->sides(); }
APART static void make() { new (static_cast<void *>(place)) square; }
APART static void add() { sum += 1; }

static wide twice(uint64_t high, uint64_t low) { return wide(high) << 64 | low; }

APART static void work_on_wide() {
    wide expected = 7;
    results[0] = __atomic_exchange_n(&atomic, twice(1, 2), __ATOMIC_SEQ_CST);
    results[1] = __atomic_fetch_add(&atomic, twice(1, 1), __ATOMIC_ACQ_REL);
    results[2] = __atomic_load_n(&atomic, __ATOMIC_ACQUIRE);
    results[3] = __atomic_compare_exchange_n(&atomic, &expected, 9, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    results[4] = expected;
    __atomic_store_n(&atomic, twice(5, 6), __ATOMIC_RELEASE);
    results[5] = __atomic_fetch_xor(&atomic, twice(1, 3), __ATOMIC_RELAXED);
}

static void *others(void *) {
    add();
    int seen = looked_at;
    changed = seen;
    count(reinterpret_cast<shape *>(place));
    work_on_wide();
    return nullptr;
}


int main() {
    pthread_t thread;
    sum = 1;
    looked_at = 1;
    changed = 1;
    make();
    __atomic_store_n(&atomic, twice(3, 4), __ATOMIC_SEQ_CST);
    pthread_create(&thread, nullptr, others, nullptr);
    pthread_join(thread, nullptr);
    for (wide result : results) printf("%jx:%jx\n", uintmax_t(uint64_t(result >> 64)), uintmax_t(uint64_t(result)));
    printf("%d %d %d\n", sum, looked_at, changed);
    fprintf(stderr, "%p %p %p %p %p\n", (void *)&sum, (void *)&looked_at, (void *)&changed, (void *)place, (void *)&atomic);
    return 0;
}
