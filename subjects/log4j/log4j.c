/* A logging library that writes in the background. The application appends events to a bounded buffer and waits while
 * it is full; a dispatcher takes them out and writes them. An administrator makes the buffer larger while all that is
 * going on, and closes the log at the end.
 *
 * Whoever takes an event out of a full buffer wakes the application: the buffer was full if now one less than its
 * capacity is in it. When the capacity has grown in between, it never looks as if it had been full. The application
 * waits on, the dispatcher writes what is left and then waits as well.
 *
 * The four places that contend for the buffer's lock are marked by the numbers of the lines they have in the paper.
 */
#include "../../crates/breakpoint/include/unpick.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 64, SMALL = 16, LARGE = 64 };

struct event {
    int number;
    /* How many blocks of the file it fills: one with a stack trace needs several. */
    int blocks;
};

struct buffer {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct event slots[MOST];
    int head, used, capacity;
    int closed;
};

struct log_file {
    pthread_mutex_t lock;
    long lines;
    unsigned checksum;
};

/* In microseconds: the time between two events, which is also what a block takes to be written. */
enum { BEAT = 300, EVENTS_PER_TRACE = 60, BLOCKS_OF_TRACE = 20 };

static struct buffer buffer = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .capacity = SMALL};
static struct log_file file = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int events = 200;

static unsigned checksum_of(int number) {
    unsigned sum = (unsigned)number;
    for (int i = 0; i < 1000; i++)
        sum = (sum ^ (sum >> 13)) * 1540483477u + (unsigned)i;
    return sum;
}

static void wait_beats(int beats) {
    for (int i = 0; i < beats; i++)
        usleep(BEAT);
}

/* One breakpoint for each order of two places that contend, after the paper. UNPICK_BREAKPOINTS=236-309 chooses one:
 * there 236 is first. The step is to get the lock. Those that happen once in a run are waited for once. */
#define FIRST(order, lock, most) UNPICK_STEP(conflict(order, lock), first(), bound(most))
#define THEN(order, lock, most) UNPICK_TRIGGER(conflict(order, lock), second(), bound(most))

static int is_full(const struct buffer *in) {
    return in->used == in->capacity;
}

static int was_empty(const struct buffer *in) {
    return in->used == 1;
}

static int was_full(const struct buffer *in) {
    return in->used + 1 == in->capacity;
}

static void put(struct buffer *into, struct event event) {
    into->slots[(into->head + into->used++) % MOST] = event;
}

static struct event get(struct buffer *from) {
    struct event event = from->slots[from->head];
    from->head = (from->head + 1) % MOST;
    from->used--;
    return event;
}

static void append(struct buffer *to, struct event event) {
    FIRST("100-309", to, events), THEN("309-100", to, events), FIRST("100-236", to, 1), THEN("236-100", to, 1);
    pthread_mutex_lock(&to->lock); /* BUG: 100 */
    UNPICK_DONE("100-309"), UNPICK_DONE("100-236");
    while (is_full(to))
        pthread_cond_wait(&to->changed, &to->lock); /* BUG: 1 */
    put(to, event);
    if (was_empty(to))
        pthread_cond_signal(&to->changed);
    pthread_mutex_unlock(&to->lock);
}

static void set_buffer_size(struct buffer *of, int capacity) {
    FIRST("236-309", of, 1), THEN("309-236", of, 1), FIRST("236-100", of, 1), THEN("100-236", of, 1);
    pthread_mutex_lock(&of->lock); /* BUG: 236 */
    UNPICK_DONE("236-309"), UNPICK_DONE("236-100");
    of->capacity = capacity;
#ifdef FIXED
    pthread_cond_broadcast(&of->changed);
#endif
    pthread_mutex_unlock(&of->lock);
}

static void close_buffer(struct buffer *in) {
    FIRST("277-309", in, 1), THEN("309-277", in, 1);
    pthread_mutex_lock(&in->lock); /* BUG: 277 */
    UNPICK_DONE("277-309");
    in->closed = 1;
    if (in->used == 0)
        pthread_cond_signal(&in->changed);
    pthread_mutex_unlock(&in->lock);
}

/* The next event; 0 when there will be none. */
static int take_event(struct buffer *from, struct event *event) {
    FIRST("309-100", from, events), THEN("100-309", from, events), FIRST("309-236", from, 1), THEN("236-309", from, 1);
    FIRST("309-277", from, 1), THEN("277-309", from, 1);
    pthread_mutex_lock(&from->lock); /* BUG: 309 */
    UNPICK_DONE("309-100"), UNPICK_DONE("309-236"), UNPICK_DONE("309-277");
    while (from->used == 0 && !from->closed)
        pthread_cond_wait(&from->changed, &from->lock); /* BUG: 2 */
    int there_is_one = from->used > 0;
    if (there_is_one) {
        *event = get(from);
        if (was_full(from))
            pthread_cond_signal(&from->changed);
    }
    pthread_mutex_unlock(&from->lock);
    return there_is_one;
}

static void write_line(struct log_file *to, const struct event *event) {
    unsigned line = checksum_of(event->number);
    wait_beats(event->blocks);
    pthread_mutex_lock(&to->lock);
    to->lines++;
    to->checksum ^= line;
    pthread_mutex_unlock(&to->lock);
}

static void *dispatcher(void *unused) {
    (void)unused;
    struct event event;
    while (take_event(&buffer, &event))
        write_line(&file, &event);
    return NULL;
}

/* While a stack trace is written, more events come than the small buffer can hold. */
static struct event make_event(int number) {
    int has_trace = number % EVENTS_PER_TRACE == EVENTS_PER_TRACE / 2;
    return (struct event){number, has_trace ? BLOCKS_OF_TRACE : 0};
}

static void *application(void *unused) {
    (void)unused;
    for (int number = 0; number < events; number++) {
        append(&buffer, make_event(number));
        wait_beats(1);
    }
    return NULL;
}

/* Comes when it likes, between two stack traces or during one; not before there has been enough to fill the buffer. */
static void administrate(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    wait_beats(EVENTS_PER_TRACE + (int)(now.tv_nsec / 1000 % EVENTS_PER_TRACE));
    set_buffer_size(&buffer, LARGE);
}

int main(int count, char **arguments) {
    if (count > 1)
        events = atoi(arguments[1]);
    pthread_t dispatching, running;
    pthread_create(&dispatching, NULL, dispatcher, NULL);
    pthread_create(&running, NULL, application, NULL);
    administrate();
    pthread_join(running, NULL); /* BUG: 3 */
    close_buffer(&buffer);
    pthread_join(dispatching, NULL);
    printf("%ld lines, checksum %08x\n", file.lines, file.checksum);
    if (file.lines != events) {
        fprintf(stderr, "FAILED: events are missing in the log\n");
        return 1;
    }
    return 0;
}
