/* The logs of a server. Every log has a length. A binary log also has a position up to which replicas may read; logs of
 * other kinds have none, and whoever appends to them changes the length only. A session appends to the binary log while a
 * replica asks how far it may read.
 *
 * Length and position have a lock each and are never touched without. But in a binary log they belong together: a
 * replica that reads the length before an event and the position after it is sent beyond the end.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum kind { GENERAL, SLOW, BINARY };

struct log {
    enum kind kind;
    pthread_mutex_t length_lock;
    long length;
    pthread_mutex_t position_lock;
    long position;
};

#define LOG(of_kind)                                                                               \
    {.kind = of_kind,                                                                              \
     .length_lock = PTHREAD_MUTEX_INITIALIZER,                                                     \
     .position_lock = PTHREAD_MUTEX_INITIALIZER}

static struct log general = LOG(GENERAL), slow = LOG(SLOW), binary = LOG(BINARY);
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_barrier_t server_is_up;
static int work = 40000;

static unsigned parse(unsigned text, int rounds) {
    for (int i = 0; i < rounds; i++)
        text = (text ^ 61) * 9u + (text >> 4);
    return text;
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

static void append_query(struct log *to, long bytes) {
    pthread_mutex_lock(&to->length_lock);
    to->length += bytes;
    pthread_mutex_unlock(&to->length_lock);
}

static void append_slow_query(struct log *to, long bytes, long seconds) {
    pthread_mutex_lock(&to->length_lock);
    to->length += bytes + (seconds > 9 ? 2 : 1);
    pthread_mutex_unlock(&to->length_lock);
}

static void append_greeting(struct log *to) {
    pthread_mutex_lock(&to->length_lock);
    to->length += 12;
    pthread_mutex_unlock(&to->length_lock);
}

static void append_farewell(struct log *to) {
    pthread_mutex_lock(&to->length_lock);
    to->length += 8;
    pthread_mutex_unlock(&to->length_lock);
}

static long length_of(struct log *of) {
    pthread_mutex_lock(&of->length_lock);
    long length = of->length;
    pthread_mutex_unlock(&of->length_lock);
    return length;
}

static void append_event(struct log *to, long bytes) {
    hold_together();
    if (to->kind == BINARY) {
        pthread_mutex_lock(&to->length_lock);
        to->length += bytes; /* BUG: 2 */
        pthread_mutex_unlock(&to->length_lock);
        pthread_mutex_lock(&to->position_lock);
        to->position += bytes; /* BUG: 3 */
        pthread_mutex_unlock(&to->position_lock);
    }
    let_go();
}

static void begin_log(struct log *of, long header) {
    if (of->kind == BINARY) {
        pthread_mutex_lock(&of->length_lock);
        pthread_mutex_lock(&of->position_lock);
        of->length = header;
        of->position = header;
        pthread_mutex_unlock(&of->position_lock);
        pthread_mutex_unlock(&of->length_lock);
    }
}

static void end_log(struct log *of, long footer) {
    if (of->kind == BINARY) {
        pthread_mutex_lock(&of->length_lock);
        pthread_mutex_lock(&of->position_lock);
        of->length += footer;
        of->position = of->length;
        pthread_mutex_unlock(&of->position_lock);
        pthread_mutex_unlock(&of->length_lock);
    }
}

/* How many bytes a replica has to read: none is less than none. */
static long bytes_behind(struct log *of) {
    long behind = 0;
    hold_together();
    if (of->kind == BINARY) {
        pthread_mutex_lock(&of->length_lock);
        long length = of->length; /* BUG: 1 */
        pthread_mutex_unlock(&of->length_lock);
        length -= parse((unsigned)length, work) == 0;
        pthread_mutex_lock(&of->position_lock);
        behind = length - of->position; /* BUG: 4 */
        pthread_mutex_unlock(&of->position_lock);
    }
    let_go();
    return behind;
}

static void print_logs(void) {
    printf("general %ld, slow %ld, binary %ld\n", length_of(&general), length_of(&slow), length_of(&binary));
}

static void *serve(void *nothing) {
    pthread_barrier_wait(&server_is_up);
    append_greeting(&general);
    if (parse(1, work) != 0)
        append_event(&binary, 64);
    append_query(&general, 40);
    append_farewell(&general);
    return nothing;
}

static void *replicate(void *nothing) {
    pthread_barrier_wait(&server_is_up);
    append_greeting(&slow);
    if (parse(2, work) == 0)
        return nothing;
    long behind = bytes_behind(&binary);
    append_slow_query(&slow, 30, 3);
    return (void *)behind;
}

int main(int count, char **arguments) {
    if (count > 1)
        work = atoi(arguments[1]);
    begin_log(&binary, 4);
    pthread_t session, replica;
    pthread_barrier_init(&server_is_up, NULL, 2);
    pthread_create(&session, NULL, serve, NULL);
    pthread_create(&replica, NULL, replicate, NULL);
    void *behind;
    pthread_join(session, NULL);
    pthread_join(replica, &behind);
    end_log(&binary, 4);
    print_logs();
    if ((long)behind < 0) {
        fprintf(stderr, "FAILED: a replica was sent %ld bytes beyond the end\n", -(long)behind);
        return 1;
    }
    return 0;
}
