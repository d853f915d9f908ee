/* Order numbers are leased in blocks: every front end takes a block from the
 * allocator and numbers its orders from it. Some ranges are reserved for
 * orders imported from the old system and have to be skipped. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FRONTENDS  4
#define ORDERS     240
#define BLOCK      8
#define MAX_ID     8192

struct range { unsigned lo, hi; };

static const struct range imported[] = {
    { 100, 131 }, { 400, 415 }, { 416, 460 }, { 900, 1023 }, { 1500, 1501 },
};
#define N_IMPORTED (sizeof imported / sizeof imported[0])

static struct {
    pthread_mutex_t lock;
    unsigned next;
    unsigned leases;
} alloc = { .lock = PTHREAD_MUTEX_INITIALIZER, .next = 1 };

static struct {
    pthread_mutex_t lock;
    unsigned char seen[MAX_ID];
    unsigned long count;
    unsigned duplicates;
} book = { .lock = PTHREAD_MUTEX_INITIALIZER };

static unsigned skip_imported(unsigned first)
{
    for (size_t i = 0; i < N_IMPORTED; i++)
        if (first <= imported[i].hi && first + BLOCK > imported[i].lo)
            first = imported[i].hi + 1;
    return first;
}

static unsigned alloc_peek(void)
{
    pthread_mutex_lock(&alloc.lock);
    unsigned n = alloc.next; /* BUG: a */
    pthread_mutex_unlock(&alloc.lock);
    return n;
}

static void alloc_commit(unsigned first)
{
    pthread_mutex_lock(&alloc.lock);
    alloc.next = first + BLOCK; /* BUG: b */
    alloc.leases++;
    pthread_mutex_unlock(&alloc.lock);
}

static unsigned alloc_lease(void)
{
#ifdef FIXED
    pthread_mutex_lock(&alloc.lock);
    unsigned first = skip_imported(alloc.next);
    alloc.next = first + BLOCK;
    alloc.leases++;
    pthread_mutex_unlock(&alloc.lock);
    (void)alloc_peek;
    (void)alloc_commit;
    return first;
#else
    unsigned first = skip_imported(alloc_peek()); /* BUG: c */
    alloc_commit(first); /* BUG: d */
    return first;
#endif
}

static void book_order(unsigned id)
{
    pthread_mutex_lock(&book.lock);
    if (book.seen[id % MAX_ID]++)
        book.duplicates++;
    book.count++;
    pthread_mutex_unlock(&book.lock);
}

static unsigned price_order(unsigned seed)
{
    unsigned p = seed | 1;
    unsigned steps = 12000 + seed % 8192;
    for (unsigned i = 0; i < steps; i++) {
        p ^= p << 13;
        p ^= p >> 17;
        p ^= p << 5;
    }
    return p;
}

static void *frontend(void *arg)
{
    unsigned seed = 7919u * (unsigned)(uintptr_t)arg;
    unsigned cur = 0, end = 0;

    for (int i = 0; i < ORDERS; i++) {
        seed = price_order(seed + (unsigned)i);
        if (cur == end) {
            cur = alloc_lease();
            end = cur + BLOCK;
        }
        book_order(cur++);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[FRONTENDS];

    for (uintptr_t i = 0; i < FRONTENDS; i++)
        if (pthread_create(&t[i], NULL, frontend, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < FRONTENDS; i++)
        pthread_join(t[i], NULL);

    if (book.count != FRONTENDS * ORDERS || alloc.leases != FRONTENDS * ORDERS / BLOCK) {
        fprintf(stderr, "book incomplete: %lu orders\n", book.count);
        return 1;
    }
    if (book.duplicates) {
        fprintf(stderr, "duplicate order ids: %u\n", book.duplicates);
        abort();
    }
    return 0;
}
