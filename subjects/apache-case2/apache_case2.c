/* The transfer log of a web server with several virtual hosts, a buffer for each. A line is made of items (address,
 * request, status, size), which are copied into the buffer one behind the other.
 *
 * Where the line begins is read before the items are copied, and read again when the buffer's count is moved on
 * behind them: both have to be the same. When another worker has moved it in between, the two lines lie over each
 * other, and behind them is a hole.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 12, WORKERS = 3, ITEMS = 4, ITEM = 24, BUFFER = 1 << 10 };

struct buffered_log {
    pthread_mutex_t lock;
    int count;
    char bytes[BUFFER];
    char *file;
    long length;
};

struct request {
    int host;
    char items[ITEMS][ITEM];
};

struct worker {
    int number;
    unsigned handled;
};

static struct buffered_log logs[HOSTS];
static int handler_work = 9000;

static unsigned handle(unsigned page, int rounds) {
    for (int i = 0; i < rounds; i++)
        page = (page ^ (page >> 13)) * 0x5bd1e995u;
    return page;
}

static void flush_log(struct buffered_log *log) {
    memcpy(log->file + log->length, log->bytes, (size_t)log->count);
    log->length += log->count;
    log->count = 0;
}

static void lock_log(struct buffered_log *log) {
#ifdef FIXED
    pthread_mutex_lock(&log->lock);
#else
    (void)log;
#endif
}

static void unlock_log(struct buffered_log *log) {
#ifdef FIXED
    pthread_mutex_unlock(&log->lock);
#else
    (void)log;
#endif
}

static int length_of(const struct request *request) {
    int length = 0;
    for (int i = 0; i < ITEMS; i++)
        length += (int)strlen(request->items[i]);
    return length;
}

/* Appends the items of a request as one line. */
static void buffered_log_writer(struct buffered_log *log, const struct request *request) {
    int length = length_of(request);
    lock_log(log);
    char *to = &log->bytes[log->count]; /* BUG: 1 */
    for (int i = 0; i < ITEMS; i++)
        to = stpcpy(to, request->items[i]);
    log->count += length; /* BUG: 2, 3 */
    unlock_log(log);
}

/* Every worker gets one request for each of the hosts. */
static void read_request(struct request *request, const struct worker *worker, int host) {
    unsigned page = handle((unsigned)(worker->number * 1000 + host), handler_work + 700 * worker->number);
    request->host = host;
    snprintf(request->items[0], ITEM, "<10.0.0.%d ", worker->number);
    snprintf(request->items[1], ITEM, "GET /page%05u ", page % 100000);
    snprintf(request->items[2], ITEM, "%d ", page % 7 == 0 ? 404 : 200);
    snprintf(request->items[3], ITEM, "%08x>\n", page);
}

static void *serve(void *argument) {
    struct worker *worker = argument;
    for (int host = 0; host < HOSTS; host++) {
        struct request request;
        read_request(&request, worker, host);
        buffered_log_writer(&logs[request.host], &request);
        worker->handled++;
    }
    return NULL;
}

/* Sound lines only: each has a beginning and an end, and nothing else that looks like one. */
static int sound_lines(const struct buffered_log *log) {
    int lines = 0;
    const char *at = log->file, *stop = log->file + log->length;
    for (const char *end; (end = memchr(at, '\n', (size_t)(stop - at))); at = end + 1) {
        int length = (int)(end - at);
        lines += length == 38 && at[0] == '<' && at[length - 1] == '>' && !memchr(at, 0, (size_t)length) &&
                 !memchr(at + 1, '<', (size_t)length - 1);
    }
    return lines;
}

int main(int count, char **arguments) {
    if (count > 1)
        handler_work = atoi(arguments[1]);
    for (int i = 0; i < HOSTS; i++) {
        pthread_mutex_init(&logs[i].lock, NULL);
        logs[i].file = calloc(1, BUFFER);
    }
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){i + 1, 0};
        pthread_create(&threads[i], NULL, serve, &workers[i]);
    }
    int handled = 0, sound = 0;
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        handled += (int)workers[i].handled;
    }
    for (int i = 0; i < HOSTS; i++) {
        flush_log(&logs[i]);
        sound += sound_lines(&logs[i]);
        free(logs[i].file);
    }
    printf("%d requests, %d sound lines in the logs\n", handled, sound);
    if (sound != handled) {
        fprintf(stderr, "FAILED: a log is corrupted\n");
        return 1;
    }
    return 0;
}
