/* The access log of a web server, buffered: workers put their lines into one buffer, which goes into the file at
 * the end. How much is in the buffer is an atomic, so no count is ever torn.
 *
 * A line is written to where the count said the end was, and after that the count moves on by its length. Of two
 * workers that both come before either has moved it, one overwrites the other, and then there is a hole in the log.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3, LINE = 80, BUFFER = 1 << 18 };

struct log_buffer {
    atomic_int count;
    char bytes[BUFFER];
    atomic_long lines;
};

struct log_file {
    pthread_mutex_t lock;
    char *bytes;
    long length;
};

struct worker {
    int number;
    long requests;
    unsigned answers;
};

static struct log_buffer buffer;
static struct log_file file = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int requests = 8;
static int request_work = 6000;
#ifdef FIXED
static pthread_mutex_t buffer_lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static unsigned answer(int worker, int request, int rounds) {
    unsigned page = (unsigned)(worker * 1000 + request);
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

static void log_request(struct log_buffer *into, int worker, int request, unsigned page) {
#ifdef FIXED
    pthread_mutex_lock(&buffer_lock);
#endif
    int end = atomic_load(&into->count); /* BUG: 1 */
    int length = snprintf(&into->bytes[end], LINE, "<worker %d request %04d page %08x>\n", worker, request, page);
    atomic_fetch_add(&into->count, length); /* BUG: 2, 3 */
    atomic_fetch_add(&into->lines, 1);
#ifdef FIXED
    pthread_mutex_unlock(&buffer_lock);
#endif
}

static void *serve(void *argument) {
    struct worker *worker = argument;
    for (int request = 0; request < requests; request++) {
        unsigned page = answer(worker->number, request, request_work + 900 * worker->number);
        log_request(&buffer, worker->number, request, page);
        worker->requests++;
        worker->answers ^= page;
    }
    return NULL;
}

/* Sound lines only: each begins and ends as a line does. */
static long sound_lines(const struct log_file *in) {
    long lines = 0;
    for (const char *at = in->bytes, *end; (end = memchr(at, '\n', (size_t)(in->bytes + in->length - at))); at = end + 1)
        lines += *at == '<' && end[-1] == '>' && end - at == 37;
    return lines;
}

int main(int count, char **arguments) {
    if (count > 1)
        requests = atoi(arguments[1]);
    if (count > 2)
        request_work = atoi(arguments[2]);
    if (requests < 1 || requests * WORKERS * LINE > BUFFER)
        return 2;
    file.bytes = calloc((size_t)requests * WORKERS + 1, LINE);
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){i, 0, 0};
        pthread_create(&threads[i], NULL, serve, &workers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    flush_log(&buffer);
    long sound = sound_lines(&file);
    printf("%d requests, %ld sound lines in the log\n", requests * WORKERS, sound);
    free(file.bytes);
    if (sound != (long)requests * WORKERS) {
        fprintf(stderr, "FAILED: the log is damaged\n");
        return 1;
    }
    return 0;
}
