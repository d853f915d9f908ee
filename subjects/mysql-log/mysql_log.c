/* A database server's binary log. A client inserts rows; each row goes into the log as well, if logging is on.
 * Now and then the log is rotated: closed, its old content archived, opened again.
 *
 * While it is being rotated, the log's type says "closed", and a client who looks just then believes that logging
 * is off: its row is in the table and never in the log. Whether the log is open is asked for every statement, so the
 * type is an atomic and is read without the lock.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum log_type { LOG_CLOSED, LOG_NORMAL, LOG_BIN };

struct record {
    long row;
    unsigned checksum;
};

struct binlog {
    pthread_mutex_t lock;
    atomic_int type;
    struct record records[512];
    int used;
    long archived;
    unsigned archive_checksum;
    int file_number;
};

struct table {
    pthread_mutex_t lock;
    long values[65536];
    long rows;
};

static struct binlog binlog = {.lock = PTHREAD_MUTEX_INITIALIZER, .type = LOG_BIN};
static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static long statements = 400;
static int rotations = 6;

static unsigned checksum_of(long value, int rounds) {
    unsigned sum = (unsigned)value;
    for (int i = 0; i < rounds; i++)
        sum = (sum ^ (sum >> 15)) * 2246822519u + (unsigned)i;
    return sum;
}

static void archive_records(struct binlog *log) {
    for (int i = 0; i < log->used; i++)
        log->archive_checksum ^= checksum_of(log->records[i].row, 3);
    log->archived += log->used;
    log->used = 0;
}

static void append_record(struct binlog *log, long row) {
    if (log->used == (int)(sizeof log->records / sizeof log->records[0]))
        archive_records(log);
    struct record *slot = &log->records[log->used++];
    slot->row = row;
    slot->checksum = checksum_of(row, 4);
}

/* Closes the log's file and opens the next one. */
static void new_file(struct binlog *log) {
    pthread_mutex_lock(&log->lock);
    int saved = atomic_load(&log->type);
    atomic_store(&log->type, LOG_CLOSED); /* BUG: 1 */
    archive_records(log);
    log->file_number++;
    atomic_store(&log->type, saved); /* BUG: 3 */
    pthread_mutex_unlock(&log->lock);
}

static int is_open(struct binlog *log) {
#ifdef FIXED
    pthread_mutex_lock(&log->lock);
    int open = atomic_load(&log->type) != LOG_CLOSED;
    pthread_mutex_unlock(&log->lock);
    return open;
#else
    return atomic_load(&log->type) != LOG_CLOSED; /* BUG: 2 */
#endif
}

static long insert_row(struct table *into, long value) {
    pthread_mutex_lock(&into->lock);
    long row = into->rows++;
    into->values[row] = value;
    pthread_mutex_unlock(&into->lock);
    return row;
}

static void write_to_log(struct binlog *log, long row) {
    pthread_mutex_lock(&log->lock);
    append_record(log, row);
    pthread_mutex_unlock(&log->lock);
}

static void *client(void *unused) {
    (void)unused;
    for (long i = 0; i < statements; i++) {
        unsigned value = checksum_of(i, 3000);
        long row = insert_row(&table, (long)value);
        if (is_open(&binlog))
            write_to_log(&binlog, row);
    }
    return NULL;
}

static void *administrator(void *unused) {
    (void)unused;
    for (int i = 0; i < rotations; i++) {
        if (checksum_of(i, 60000) == 0)
            continue;
        new_file(&binlog);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        statements = atol(arguments[1]);
    if (count > 2)
        rotations = atoi(arguments[2]);
    if (statements < 1 || statements > 30000)
        return 2;
    pthread_t inserting, rotating;
    pthread_create(&inserting, NULL, client, NULL);
    pthread_create(&rotating, NULL, administrator, NULL);
    pthread_join(inserting, NULL);
    pthread_join(rotating, NULL);
    archive_records(&binlog);
    printf("%ld rows, %ld records in %d files\n", table.rows, binlog.archived, binlog.file_number + 1);
    if (binlog.archived != table.rows) {
        fprintf(stderr, "FAILED: rows are missing in the log\n");
        return 1;
    }
    return 0;
}
