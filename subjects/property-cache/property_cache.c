/* The property cache of a script engine: a table of entries, and a flag that says whether the table is empty, so that
 * nobody needs to look into it then. The collector flushes the cache; a script fills it.
 *
 * Table and flag have a lock each and are never touched without. But they belong together: if the script fills an
 * entry after the collector has cleared the table and before it has set the flag, the cache is said to be empty and is not.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 16, WANTED = 5 };

struct property_cache {
    pthread_mutex_t table_lock;
    long table[SLOTS];
    pthread_mutex_t empty_lock;
    int empty;
    long tests, misses;
};

static struct property_cache cache = {.table_lock = PTHREAD_MUTEX_INITIALIZER,
                                      .empty_lock = PTHREAD_MUTEX_INITIALIZER};
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_barrier_t engine_is_up;
static int work = 40000;

static unsigned long mark(unsigned long color, int rounds) {
    for (int i = 0; i < rounds; i++)
        color = (color ^ (color >> 9)) * 6364136223846793005ul + 1;
    return color;
}

static void hold_together(void) {
#ifdef FIXED
    pthread_mutex_lock(&whole);
#endif
}

static void let_go(void) {
#ifdef FIXED
    pthread_mutex_unlock(&whole);
#endif
}

static void flush_property_cache(struct property_cache *of) {
    hold_together();
    pthread_mutex_lock(&of->table_lock);
    for (int at = 0; at < SLOTS; at++)
        of->table[at] = 0; /* BUG: 1 */
    pthread_mutex_unlock(&of->table_lock);
    unsigned long color = mark(3, work);
    pthread_mutex_lock(&of->empty_lock);
    of->empty = color != 0; /* BUG: 4 */
    pthread_mutex_unlock(&of->empty_lock);
    let_go();
}

static void fill_property_cache(struct property_cache *of, int at, long property) {
    hold_together();
    pthread_mutex_lock(&of->table_lock);
    of->table[at] = property; /* BUG: 2 */
    pthread_mutex_unlock(&of->table_lock);
    pthread_mutex_lock(&of->empty_lock);
    of->empty = 0; /* BUG: 3 */
    pthread_mutex_unlock(&of->empty_lock);
    let_go();
}

/* The property, or 0 if it must be looked up in the object. */
static long test_property_cache(struct property_cache *of, int at) {
    pthread_mutex_lock(&of->table_lock);
    pthread_mutex_lock(&of->empty_lock);
    long property = of->empty ? 0 : of->table[at];
    of->tests++;
    of->misses += property == 0;
    pthread_mutex_unlock(&of->empty_lock);
    pthread_mutex_unlock(&of->table_lock);
    return property;
}

/* A new engine has the properties of its own objects in the cache. */
static void init_property_cache(struct property_cache *of) {
    pthread_mutex_lock(&of->table_lock);
    pthread_mutex_lock(&of->empty_lock);
    for (int at = 0; at < SLOTS; at++)
        of->table[at] = at % 3 + 1;
    of->empty = 0;
    pthread_mutex_unlock(&of->empty_lock);
    pthread_mutex_unlock(&of->table_lock);
}

static int count_entries(struct property_cache *of) {
    int entries = 0;
    pthread_mutex_lock(&of->table_lock);
    pthread_mutex_lock(&of->empty_lock);
    for (int at = 0; at < SLOTS && !of->empty; at++)
        entries += of->table[at] != 0;
    pthread_mutex_unlock(&of->empty_lock);
    pthread_mutex_unlock(&of->table_lock);
    return entries;
}

static int is_consistent(struct property_cache *of) {
    int filled = 0;
    pthread_mutex_lock(&of->table_lock);
    pthread_mutex_lock(&of->empty_lock);
    for (int at = 0; at < SLOTS; at++)
        filled |= of->table[at] != 0;
    int says_empty = of->empty;
    pthread_mutex_unlock(&of->empty_lock);
    pthread_mutex_unlock(&of->table_lock);
    return !(filled && says_empty);
}

static void *collect(void *nothing) {
    pthread_barrier_wait(&engine_is_up);
    if (mark(1, work) != 0)
        flush_property_cache(&cache);
    return nothing;
}

static void *run_script(void *nothing) {
    pthread_barrier_wait(&engine_is_up);
    if (mark(2, work) != 0)
        fill_property_cache(&cache, WANTED, 42);
    return nothing;
}

int main(int count, char **arguments) {
    if (count > 1)
        work = atoi(arguments[1]);
    init_property_cache(&cache);
    pthread_t collector, script;
    pthread_barrier_init(&engine_is_up, NULL, 2);
    pthread_create(&collector, NULL, collect, NULL);
    pthread_create(&script, NULL, run_script, NULL);
    pthread_join(collector, NULL);
    pthread_join(script, NULL);
    printf("property %ld, %d entries\n", test_property_cache(&cache, WANTED), count_entries(&cache));
    if (!is_consistent(&cache)) {
        fprintf(stderr, "FAILED: the cache is said to be empty and is not\n");
        return 1;
    }
    return 0;
}
