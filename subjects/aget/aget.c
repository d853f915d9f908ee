/* A download accelerator: each worker fetches one segment of a file. How far a segment is, and how many bytes there
 * are in all, is kept for resuming. When the connection breaks, the workers are told to stop, everything is set back
 * to the last saved state, and new workers resume from there.
 *
 * Each number has its lock, and setting back holds all of them. But a worker moves its segment on first and adds to
 * the sum after that, and the resuming does not wait until the workers are gone: a sum that is added after it was set
 * back counts bytes that will be fetched again.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 8, BUFFER = 4096 };

struct segment {
    pthread_mutex_t lock;
    long start, offset, end;
    int stop;
};

struct progress {
    pthread_mutex_t lock;
    long written;
    long pieces;
};

struct saved_state {
    long offsets[MOST];
    long written;
};

static struct segment segments[MOST];
static struct progress progress = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct saved_state saved;
static long file_size = 6 * 1024;
static int check_rounds = 70;
static int workers = 6;
static long piece; /* what is asked for at once: as much as a worker has to fetch */

static unsigned char byte_at(long offset) { return (unsigned char)((unsigned long)offset * 2654435761ul >> 24); }

/* The far end: gives the bytes of one piece, and proves that they came over well. */
static unsigned fetch(long offset, long length, unsigned char *into) {
    unsigned proof = 1;
    for (long i = 0; i < length; i++)
        into[i] = byte_at(offset + i);
    for (int round = 0; round < check_rounds; round++)
        for (long i = 0; i < length; i += 8)
            proof = proof * 31 + into[i];
    return proof;
}

static int must_stop(struct segment *segment) {
    pthread_mutex_lock(&segment->lock);
    int stop = segment->stop;
    pthread_mutex_unlock(&segment->lock);
    return stop;
}

static void tell_to_stop(int stop) {
    for (int i = 0; i < workers; i++) {
        pthread_mutex_lock(&segments[i].lock);
        segments[i].stop = stop;
        pthread_mutex_unlock(&segments[i].lock);
    }
}

static long next_offset(struct segment *segment) {
    pthread_mutex_lock(&segment->lock);
    long offset = segment->offset;
    pthread_mutex_unlock(&segment->lock);
    return offset;
}

/* Says no to a piece that comes too late. */
static int move_on(struct segment *segment) {
    pthread_mutex_lock(&segment->lock);
    int in_time = !segment->stop;
    if (in_time)
        segment->offset += piece; /* BUG: 1 */
    pthread_mutex_unlock(&segment->lock);
    return in_time;
}

static void add_written(long length) {
    pthread_mutex_lock(&progress.lock);
    progress.written += length; /* BUG: 4 */
    progress.pieces++;
    pthread_mutex_unlock(&progress.lock);
}

/* How far this segment is, for the screen. */
static void draw_bar(struct segment *segment, char *bar) {
    long done = next_offset(segment) - segment->start;
    long width = done * 40 / (segment->end - segment->start);
    for (long i = 0; i < 40; i++)
        bar[i] = i < width ? '#' : '.';
    snprintf(bar + 40, 24, " %ld bytes", done);
}

static void *worker(void *argument) {
    struct segment *segment = argument;
    char bar[64];
    unsigned char buffer[BUFFER];
    while (!must_stop(segment)) {
        long offset = next_offset(segment);
        if (offset == segment->end)
            break;
        if (fetch(offset, piece, buffer) == 0 || !move_on(segment))
            continue;
        draw_bar(segment, bar);
        add_written(piece);
    }
    return NULL;
}

/* Back to what was saved: all that came since then is fetched again. */
static void set_back(const struct saved_state *to) {
    for (int i = 0; i < workers; i++)
        pthread_mutex_lock(&segments[i].lock);
    pthread_mutex_lock(&progress.lock);
    for (int i = 0; i < workers; i++)
        segments[i].offset = to->offsets[i]; /* BUG: 2 */
    progress.written = to->written; /* BUG: 3 */
    pthread_mutex_unlock(&progress.lock);
    for (int i = 0; i < workers; i++)
        pthread_mutex_unlock(&segments[i].lock);
}

static void start_workers(pthread_t *threads) {
    for (int i = 0; i < workers; i++)
        pthread_create(&threads[i], NULL, worker, &segments[i]);
}

static void join_workers(pthread_t *threads) {
    for (int i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
}

static void wait_for_pieces(long wanted) {
    for (long pieces = 0; pieces < wanted;) {
        pthread_mutex_lock(&progress.lock);
        pieces = progress.pieces;
        pthread_mutex_unlock(&progress.lock);
        unsigned char scratch[64];
        fetch(pieces, sizeof scratch, scratch);
    }
}

int main(int count, char **arguments) {
    if (count > 1)
        file_size = atol(arguments[1]) * 1024;
    if (count > 2)
        check_rounds = atoi(arguments[2]);
    if (count > 3)
        workers = atoi(arguments[3]);
    if (workers < 1 || workers > MOST || file_size % workers != 0 || file_size / workers > BUFFER)
        return 2;
    piece = file_size / workers;
    for (int i = 0; i < workers; i++) {
        pthread_mutex_init(&segments[i].lock, NULL);
        segments[i].start = segments[i].offset = saved.offsets[i] = file_size / workers * i;
        segments[i].end = file_size / workers * (i + 1);
    }
    pthread_t first[MOST], second[MOST];
    start_workers(first);
    wait_for_pieces(workers / 3);
    tell_to_stop(1);
#ifdef FIXED
    join_workers(first);
#endif
    set_back(&saved);
#ifndef FIXED
    join_workers(first);
#endif
    tell_to_stop(0);
    start_workers(second);
    join_workers(second);
    printf("%ld bytes of %ld\n", progress.written, file_size);
    if (progress.written != file_size) {
        fprintf(stderr, "FAILED: the sum of bytes does not fit the segments\n");
        return 1;
    }
    return 0;
}
