/* The access log of a web server, buffered: each request has a thread, which puts its line into one buffer for
 * all; the buffer goes into the file at the end. How much is in the buffer is an atomic, so no count is ever torn.
 *
 * A line is written to where the count said the end was, and after that the count moves on by its length. Of two
 * requests that both come before either has moved it, one overwrites the other, and then there is a hole in the log.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 9, LINE = 80 };

struct log_buffer {
    atomic_int count;
    char bytes[REQUESTS * LINE];
    atomic_long lines;
};

struct log_file {
    pthread_mutex_t lock;
    char *bytes;
    long length;
};

struct request {
    int number;
    unsigned page;
};

static struct log_buffer buffer;
static struct log_file file = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int request_work = 40000;
#ifdef FIXED
static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static unsigned answer(int request, int rounds) {
    unsigned page = (unsigned)request;
    for (int i = 0; i < rounds; i++)
        page = page * 1664525u + 1013904223u;
    return page;
}

static void write_file(struct log_file *to, const char *bytes, int length) {
    pthread_mutex_lock(&to->lock);
    memcpy(to->bytes + to->length, bytes, (size_t)length);
    to->length += length;
    pthread_mutex_unlock(&to->lock);
}

static void flush_log(struct log_buffer *from) {
    write_file(&file, from->bytes, atomic_load(&from->count));
    atomic_store(&from->count, 0);
}

static void log_request(struct log_buffer *into, const struct request *request) {
#ifdef FIXED
    pthread_mutex_lock(&buffer_lock);
#endif
    int end = atomic_load(&into->count); /* BUG: 1 */
    int length = snprintf(&into->bytes[end], LINE, "<request %04d page %08x>\n", request->number, request->page);
    atomic_fetch_add(&into->count, length); /* BUG: 2, 3 */
    atomic_fetch_add(&into->lines, 1);
#ifdef FIXED
    pthread_mutex_unlock(&buffer_lock);
#endif
}

static void *serve(void *argument) {
    struct request *request = argument;
    request->page = answer(request->number, request_work);
    log_request(&buffer, request);
    return NULL;
}

/* Sound lines only: each begins and ends as a line does. */
static long sound_lines(const struct log_file *in) {
    long lines = 0;
    for (const char *at = in->bytes, *end; (end = memchr(at, '\n', (size_t)(in->bytes + in->length - at))); at = end + 1)
        lines += *at == '<' && end[-1] == '>' && end - at == 28;
    return lines;
}

int main(int count, char **arguments) {
    if (count > 1)
        request_work = atoi(arguments[1]);
    file.bytes = calloc(REQUESTS, LINE);
    struct request requests[REQUESTS];
    pthread_t threads[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) {
        requests[i] = (struct request){i, 0};
        pthread_create(&threads[i], NULL, serve, &requests[i]);
    }
    for (int i = 0; i < REQUESTS; i++)
        pthread_join(threads[i], NULL);
    flush_log(&buffer);
    long sound = sound_lines(&file);
    printf("%d requests, %ld sound lines in the log\n", REQUESTS, sound);
    free(file.bytes);
    if (sound != REQUESTS) {
        fprintf(stderr, "FAILED: the log is damaged\n");
        return 1;
    }
    return 0;
}
