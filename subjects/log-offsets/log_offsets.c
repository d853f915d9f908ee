/* The log of a server: how many events it has, and how many bytes. Each session appends one event; an index says for
 * every event where it begins.
 *
 * Number and bytes have a lock each and are never touched without. But they belong together: two sessions can get
 * their numbers in one order and their places in the other, and then the index leads astray.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SESSIONS = 2, ROOM = 8, HEADER = 4 };

struct log {
    pthread_mutex_t number_lock;
    long events;
    pthread_mutex_t place_lock;
    long bytes;
    long index[ROOM];
};

static struct log query_log = {.number_lock = PTHREAD_MUTEX_INITIALIZER,
                               .place_lock = PTHREAD_MUTEX_INITIALIZER};
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_barrier_t server_is_up;
static int work = 40000;

static unsigned parse(unsigned text, int rounds) {
    for (int i = 0; i < rounds; i++)
        text = text * 1664525u + 1013904223u;
    return text;
}

static void append_event(struct log *to, long length, unsigned text) {
#ifdef FIXED
    pthread_mutex_lock(&whole);
#endif
    pthread_mutex_lock(&to->number_lock);
    long number = to->events;
    to->events = number + 1; /* BUG: 1, 2 */
    pthread_mutex_unlock(&to->number_lock);
    /* Checked letter by letter: a long event takes its time. */
    length += parse(text, work * (int)length / 16) == 0;
    pthread_mutex_lock(&to->place_lock);
    to->index[number] = to->bytes;
    to->bytes += length; /* BUG: 3, 4 */
    pthread_mutex_unlock(&to->place_lock);
#ifdef FIXED
    pthread_mutex_unlock(&whole);
#endif
}

static void lock_all(struct log *of) {
    pthread_mutex_lock(&of->number_lock);
    pthread_mutex_lock(&of->place_lock);
}

static void unlock_all(struct log *of) {
    pthread_mutex_unlock(&of->place_lock);
    pthread_mutex_unlock(&of->number_lock);
}

static void open_log(struct log *of) {
    lock_all(of);
    of->events = 0;
    of->bytes = HEADER;
    unlock_all(of);
}

static void write_start(struct log *to) {
    lock_all(to);
    to->index[to->events++] = to->bytes;
    to->bytes += HEADER;
    unlock_all(to);
}

static void print_log(struct log *of) {
    lock_all(of);
    printf("%ld events in %ld bytes\n", of->events, of->bytes);
    unlock_all(of);
}

/* Whether every event begins after the one before it, and the last one within the log. */
static int is_in_order(struct log *of) {
    lock_all(of);
    long before = 0;
    int in_order = 1;
    for (long i = 0; i < of->events; i++) {
        in_order &= of->index[i] > before && of->index[i] < of->bytes;
        before = of->index[i];
    }
    unlock_all(of);
    return in_order;
}

static void *serve(void *number) {
    unsigned own = *(const unsigned *)number;
    pthread_barrier_wait(&server_is_up);
    unsigned text = parse(own, work);
    append_event(&query_log, own == 0 ? 32 : 4, text);
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        work = atoi(arguments[1]);
    open_log(&query_log);
    write_start(&query_log);
    unsigned numbers[SESSIONS] = {0, 1};
    pthread_t sessions[SESSIONS];
    pthread_barrier_init(&server_is_up, NULL, SESSIONS);
    for (int i = 0; i < SESSIONS; i++)
        pthread_create(&sessions[i], NULL, serve, &numbers[i]);
    for (int i = 0; i < SESSIONS; i++)
        pthread_join(sessions[i], NULL);
    print_log(&query_log);
    if (!is_in_order(&query_log)) {
        fprintf(stderr, "FAILED: the index of the log leads astray\n");
        return 1;
    }
    return 0;
}
