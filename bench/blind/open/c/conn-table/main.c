/* Fixed-size session table. Workers open sessions, some of which are abandoned
 * by their clients; a reaper accounts for the abandoned ones and frees them.
 * When the table is full, a worker takes over the longest abandoned slot. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WORKERS  3
#define SLOTS    4
#define REQUESTS 200

enum state { FREE, LIVE, ABANDONED };

struct session {
    enum state state;
    unsigned serial;
    unsigned bytes;
};

static struct {
    pthread_mutex_t lock;
    struct session slot[SLOTS];
    unsigned next_serial;
    unsigned reaped, taken_over;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER, .next_serial = 1 };

static atomic_bool stopping;
static atomic_uint lost_sessions;
static atomic_ulong billed;

struct victim { int slot; unsigned serial; unsigned bytes; };

static unsigned crunch(unsigned x, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        x = (x >> 1) ^ (-(x & 1u) & 0xedb88320u) ^ i;
    return x;
}

static int session_open(unsigned *serial)
{
    int found = -1;
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < SLOTS && found < 0; i++)
        if (table.slot[i].state == FREE)
            found = i;
    if (found < 0) {
        for (int i = 0; i < SLOTS; i++)
            if (table.slot[i].state == ABANDONED &&
                (found < 0 || table.slot[i].serial < table.slot[found].serial))
                found = i;
        table.taken_over += found >= 0;
    }
    if (found >= 0) {
        table.slot[found].state = LIVE; /* BUG: c */
        table.slot[found].serial = *serial = table.next_serial++; /* BUG: d */
        table.slot[found].bytes = 0;
    }
    pthread_mutex_unlock(&table.lock);
    return found;
}

static bool session_finish(int i, unsigned serial, unsigned bytes, bool gone)
{
    pthread_mutex_lock(&table.lock);
    struct session *s = &table.slot[i];
    bool mine = s->state == LIVE && s->serial == serial; /* BUG: e */
    if (mine) {
        s->bytes = bytes;
        s->state = gone ? ABANDONED : FREE;
    }
    pthread_mutex_unlock(&table.lock);
    return mine;
}

static int collect_abandoned(struct victim *v)
{
    int n = 0;
    pthread_mutex_lock(&table.lock);
    for (int i = 0; i < SLOTS; i++)
        if (table.slot[i].state == ABANDONED) /* BUG: a */
            v[n++] = (struct victim){ i, table.slot[i].serial, table.slot[i].bytes };
    pthread_mutex_unlock(&table.lock);
    return n;
}

static void session_drop(const struct victim *v)
{
    pthread_mutex_lock(&table.lock);
    struct session *s = &table.slot[v->slot];
#ifdef FIXED
    if (s->state == ABANDONED && s->serial == v->serial)
#endif
    {
        s->state = FREE; /* BUG: b */
        table.reaped++;
    }
    pthread_mutex_unlock(&table.lock);
}

static void *reaper(void *arg)
{
    struct victim v[SLOTS];
    unsigned pace = 1;
    (void)arg;
    while (!atomic_load(&stopping)) {
        int n = collect_abandoned(v);
        for (int i = 0; i < n; i++) {
            atomic_fetch_add(&billed, v[i].bytes & 0xff);
            session_drop(&v[i]);
        }
        pace = crunch(pace, 9000);
    }
    return NULL;
}

static void *worker(void *arg)
{
    unsigned x = 40503u * (unsigned)(uintptr_t)arg;
    for (int i = 0; i < REQUESTS; i++) {
        unsigned serial = 0;
        x = crunch(x, 2500 + x % 1500);
        int slot = session_open(&serial);
        if (slot < 0)
            continue;
        x = crunch(x + serial, 6000);
        if (!session_finish(slot, serial, x & 0xffff, x % 2 == 0))
            atomic_fetch_add(&lost_sessions, 1);
    }
    return NULL;
}

int main(void)
{
    pthread_t w[WORKERS], r;
    if (pthread_create(&r, NULL, reaper, NULL) != 0)
        abort();
    for (uintptr_t i = 0; i < WORKERS; i++)
        if (pthread_create(&w[i], NULL, worker, (void *)(i + 1)) != 0)
            abort();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(w[i], NULL);
    atomic_store(&stopping, true);
    pthread_join(r, NULL);

    if (atomic_load(&lost_sessions)) {
        fprintf(stderr, "live session closed: %u\n", atomic_load(&lost_sessions));
        return 1;
    }
    return 0;
}
