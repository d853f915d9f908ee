/* A script engine counts its strings and their letters, for whoever asks for the mean length. A script makes a string
 * while a monitor prints the figures.
 *
 * Count and sum have a lock each and are never touched without. But they belong together: who reads both while a
 * string has been counted and its letters have not gets a mean that never was.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LETTERS = 24, AT_START = 3 };

struct runtime {
    pthread_mutex_t count_lock;
    long total_strings;
    pthread_mutex_t sum_lock;
    long length_sum;
};

static struct runtime runtime = {.count_lock = PTHREAD_MUTEX_INITIALIZER,
                                 .sum_lock = PTHREAD_MUTEX_INITIALIZER};
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_barrier_t engine_is_up;
static int work = 40000;

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

static unsigned hash(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = (seed ^ (unsigned)i) * 16777619u;
    return seed;
}

/* Returns the hash, which a string gets when it is made. */
static unsigned new_string(struct runtime *of, unsigned text, long length) {
    hold_together();
    pthread_mutex_lock(&of->count_lock);
    of->total_strings++; /* BUG: 1 */
    pthread_mutex_unlock(&of->count_lock);
    unsigned hashed = hash(text, work);
    pthread_mutex_lock(&of->sum_lock);
    of->length_sum += length; /* BUG: 4 */
    pthread_mutex_unlock(&of->sum_lock);
    let_go();
    return hashed;
}

/* The mean in hundredths of a letter. */
static long mean_length(struct runtime *of) {
    hold_together();
    pthread_mutex_lock(&of->count_lock);
    long strings = of->total_strings; /* BUG: 2 */
    pthread_mutex_unlock(&of->count_lock);
    pthread_mutex_lock(&of->sum_lock);
    long letters = of->length_sum; /* BUG: 3 */
    pthread_mutex_unlock(&of->sum_lock);
    let_go();
    return strings ? letters * 100 / strings : 0;
}

static void init_totals(struct runtime *of) {
    pthread_mutex_lock(&of->count_lock);
    pthread_mutex_lock(&of->sum_lock);
    of->total_strings = AT_START;
    of->length_sum = AT_START * LETTERS;
    pthread_mutex_unlock(&of->sum_lock);
    pthread_mutex_unlock(&of->count_lock);
}

static void finalize_string(struct runtime *of, long length) {
    pthread_mutex_lock(&of->count_lock);
    pthread_mutex_lock(&of->sum_lock);
    of->total_strings--;
    of->length_sum -= length;
    pthread_mutex_unlock(&of->sum_lock);
    pthread_mutex_unlock(&of->count_lock);
}

static void print_totals(struct runtime *of) {
    pthread_mutex_lock(&of->count_lock);
    pthread_mutex_lock(&of->sum_lock);
    printf("%ld strings, %ld letters\n", of->total_strings, of->length_sum);
    pthread_mutex_unlock(&of->sum_lock);
    pthread_mutex_unlock(&of->count_lock);
}

static void *run_script(void *nothing) {
    pthread_barrier_wait(&engine_is_up);
    unsigned text = hash(1, work);
    return new_string(&runtime, text, LETTERS) != text ? nothing : &runtime;
}

static void *monitor(void *nothing) {
    pthread_barrier_wait(&engine_is_up);
    if (hash(2, work) == 2)
        return nothing;
    return (void *)mean_length(&runtime);
}

int main(int count, char **arguments) {
    if (count > 1)
        work = atoi(arguments[1]);
    init_totals(&runtime);
    pthread_t script, monitoring;
    pthread_barrier_init(&engine_is_up, NULL, 2);
    pthread_create(&script, NULL, run_script, NULL);
    pthread_create(&monitoring, NULL, monitor, NULL);
    void *mean;
    pthread_join(script, NULL);
    pthread_join(monitoring, &mean);
    finalize_string(&runtime, LETTERS);
    print_totals(&runtime);
    if ((long)mean != LETTERS * 100) {
        fprintf(stderr, "FAILED: all strings have %d letters, their mean is %ld.%02ld\n", LETTERS, (long)mean / 100, (long)mean % 100);
        return 1;
    }
    return 0;
}
