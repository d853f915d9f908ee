/* A log with two buffers: messages go into the active one, and a flusher swaps the two and empties the one that
 * came to rest, so that nobody has to wait for the disk.
 *
 * All of it is under one lock. But a message first reserves its slot in the active buffer and is stored after it was
 * formatted; if the buffers are swapped in between, it is stored into the other buffer, and its own slot stays empty.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 4096, TEXT = 48, LOGGERS = 2 };

struct buffer {
    char messages[SLOTS][TEXT];
    int used;
};

struct log {
    pthread_mutex_t lock;
    struct buffer buffers[2];
    int active;
    long swaps;
};

struct disk {
    long messages;
    long holes;
    unsigned checksum;
};

static struct log events = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct disk disk;
static int messages = 150;
static int work = 4000;

static unsigned sensor(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = seed * 22695477u + 1;
    return seed;
}

static int reserve_slot(struct log *log) {
    pthread_mutex_lock(&log->lock);
    struct buffer *buffer = &log->buffers[log->active]; /* BUG: 1 */
    int slot = buffer->used++;
    pthread_mutex_unlock(&log->lock);
    return slot;
}

static void store_message(struct log *log, int slot, const char *text) {
    pthread_mutex_lock(&log->lock);
    struct buffer *buffer = &log->buffers[log->active]; /* BUG: 3 */
    memcpy(buffer->messages[slot], text, TEXT);
    pthread_mutex_unlock(&log->lock);
}

#ifdef FIXED
static void append_message(struct log *log, const char *text) {
    pthread_mutex_lock(&log->lock);
    struct buffer *buffer = &log->buffers[log->active];
    memcpy(buffer->messages[buffer->used++], text, TEXT);
    pthread_mutex_unlock(&log->lock);
}
#endif

static void log_value(struct log *log, int logger, unsigned value) {
    char text[TEXT] = "";
#ifdef FIXED
    snprintf(text, sizeof text, "logger %d: %u", logger, value);
    append_message(log, text);
    (void)reserve_slot;
    (void)store_message;
#else
    int slot = reserve_slot(log);
    snprintf(text, sizeof text, "logger %d, slot %d: %u", logger, slot, value);
    store_message(log, slot, text);
#endif
}

static struct buffer *swap_buffers(struct log *log) {
    pthread_mutex_lock(&log->lock);
    int resting = log->active;
    log->buffers[1 - resting].used = 0;
    log->active = 1 - resting; /* BUG: 2 */
    log->swaps++;
    pthread_mutex_unlock(&log->lock);
    return &log->buffers[resting];
}

static void write_to_disk(struct buffer *buffer) {
    for (int slot = 0; slot < buffer->used; slot++) {
        if (buffer->messages[slot][0] == 0) {
            disk.holes++;
            continue;
        }
        for (int i = 0; i < TEXT; i++)
            disk.checksum = disk.checksum * 31 + (unsigned char)buffer->messages[slot][i];
        disk.messages++;
        buffer->messages[slot][0] = 0;
    }
}

static void *logger(void *number) {
    for (int i = 0; i < messages; i++)
        log_value(&events, *(int *)number, sensor((unsigned)i, work + 500 * *(int *)number));
    return NULL;
}

static void *flusher(void *unused) {
    (void)unused;
    for (int round = 0; round < 3; round++) {
        if (sensor(1, work * messages / 5) != 0)
            write_to_disk(swap_buffers(&events));
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        messages = atoi(arguments[1]);
    if (count > 2)
        work = atoi(arguments[2]);
    if (messages < 1 || messages * LOGGERS > SLOTS)
        return 2;
    int numbers[LOGGERS];
    pthread_t loggers[LOGGERS], flushing;
    for (int i = 0; i < LOGGERS; i++) {
        numbers[i] = i;
        pthread_create(&loggers[i], NULL, logger, &numbers[i]);
    }
    pthread_create(&flushing, NULL, flusher, NULL);
    for (int i = 0; i < LOGGERS; i++)
        pthread_join(loggers[i], NULL);
    pthread_join(flushing, NULL);
    write_to_disk(swap_buffers(&events));
    printf("%ld messages on disk, %ld holes, %ld swaps\n", disk.messages, disk.holes, events.swaps);
    if (disk.holes > 0 || disk.messages != (long)messages * LOGGERS) {
        fprintf(stderr, "FAILED: messages are lost\n");
        return 1;
    }
    return 0;
}
