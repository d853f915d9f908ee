// Pairs of accesses of different shape to the same 64 bytes: the first by the main thread, the second by another, later.
// Also valid C++. The bytes begin untouched.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define APART __attribute__((noinline, noclone_or_nothing))
#if defined __clang__
#define noclone_or_nothing unused
#else
#define noclone_or_nothing noclone, unused
#endif
#define TYPE(name, type) typedef struct { type v; } __attribute__((packed, may_alias)) name

typedef struct { unsigned a : 3, b : 5; unsigned c : 8; } bits;
typedef struct { char x; int y; short z; } __attribute__((packed)) tight;
typedef struct { long first; int second[6]; char third[8]; } record;
typedef struct { char low, high; } bytes;
typedef struct { bool low, high; } bools;
typedef struct { int low, high; } ints;
typedef __int128 wide;
TYPE(any_short, short);
TYPE(any_int, int);
TYPE(any_long, long);

typedef struct {
    const char *name;
    void (*first)(char *);
    long (*second)(char *);
} pair;

#define FIRST(name) APART static void name##_first(char *m)
#define SECOND(name) APART static long name##_second(char *m)

FIRST(neighbouring_bytes) { ((bytes *)m)->low = 1; }
SECOND(neighbouring_bytes) { ((bytes *)m)->high = 2; return 0; }

FIRST(neighbouring_bools) { ((bools *)m)->low = true; }
SECOND(neighbouring_bools) { ((bools *)m)->high = true; return 0; }

FIRST(neighbouring_ints) { ((ints *)m)->low = 1; }
SECOND(neighbouring_ints) { return ++((ints *)m)->high; }

FIRST(byte_of_a_long) { *(long *)m = 1; }
SECOND(byte_of_a_long) { return m[3]; }

FIRST(long_over_a_byte) { m[3] = 1; }
SECOND(long_over_a_byte) { return *(long *)m; }

FIRST(short_inside_an_int) { *(int *)m = 1; }
SECOND(short_inside_an_int) { ((any_short *)(m + 2))->v = 1; return 0; }

FIRST(overlapping_unaligned_ints) { ((any_int *)(m + 2))->v = 1; }
SECOND(overlapping_unaligned_ints) { return *(int *)(m + 4); }

FIRST(unaligned_long_over_a_border) { ((any_long *)(m + 5))->v = 1; }
SECOND(unaligned_long_over_a_border) { m[12] = 1; return 0; }

FIRST(two_unaligned_longs) { ((any_long *)(m + 1))->v = 1; }
SECOND(two_unaligned_longs) { return ((any_long *)(m + 6))->v; }

FIRST(bits_of_one_byte) { ((bits *)m)->a = 1; }
SECOND(bits_of_one_byte) { ((bits *)m)->b = 1; return 0; }

FIRST(packed_member) { ((tight *)m)->y = 1; }
SECOND(packed_member) { return ((tight *)m)->y; }

FIRST(packed_neighbours) { ((tight *)m)->x = 1; ((tight *)m)->z = 1; }
SECOND(packed_neighbours) { return ((tight *)m)->y++; }

FIRST(copied_struct) {
    record *r = (record *)m;
    r->first = 1;
    for (int i = 0; i < 6; i++) r->second[i] = i;
    for (int i = 0; i < 8; i++) *(volatile char *)&r->third[i] = (char)i;
}
SECOND(copied_struct) {
    static record copy;
    copy = *(record *)m;
    return copy.second[2];
}

FIRST(sixteen_bytes) { *(wide *)m = 1; }
SECOND(sixteen_bytes) { return (long)*(wide *)m; }

FIRST(byte_of_sixteen) { *(wide *)m = 1; }
SECOND(byte_of_sixteen) { return m[9]; }

static volatile size_t thirteen = 13;
static char source[64];
FIRST(copied_bytes) { memcpy(m + 1, source, thirteen); }
SECOND(copied_bytes) { return m[13] + m[14]; }

FIRST(moved_bytes) { *(long *)(m + 8) = 1; }
SECOND(moved_bytes) { memmove(m + 3, m + 4, thirteen); return 0; }

FIRST(filled_bytes) { m[5] = 1; }
SECOND(filled_bytes) { memset(m + 3, 1, thirteen); return 0; }

#define PAIR(name) { #name, name##_first, name##_second }
static const pair pairs[] = {
    PAIR(neighbouring_bytes), PAIR(neighbouring_bools), PAIR(neighbouring_ints), PAIR(byte_of_a_long),
    PAIR(long_over_a_byte), PAIR(short_inside_an_int), PAIR(overlapping_unaligned_ints),
    PAIR(unaligned_long_over_a_border), PAIR(two_unaligned_longs), PAIR(bits_of_one_byte), PAIR(packed_member),
    PAIR(packed_neighbours), PAIR(copied_struct), PAIR(sixteen_bytes), PAIR(byte_of_sixteen), PAIR(copied_bytes),
    PAIR(moved_bytes), PAIR(filled_bytes),
};
#define PAIRS (sizeof pairs / sizeof *pairs)

static char memory[PAIRS][64] __attribute__((aligned(64)));

static void *others(void *unused) {
    long sum = 0;
    for (unsigned i = 0; i < PAIRS; i++) sum += pairs[i].second(memory[i]);
    return (char *)unused + sum;
}

int main(void) {
    pthread_t thread;
    for (unsigned i = 0; i < PAIRS; i++) pairs[i].first(memory[i]);
    pthread_create(&thread, 0, others, 0);
    pthread_join(thread, 0);
    for (unsigned i = 0; i < PAIRS; i++) printf("%s %p\n", pairs[i].name, (void *)memory[i]);
    return 0;
}
