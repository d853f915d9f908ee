/* A table and its log of statements. Clients insert a row each; an administrator empties the table. Emptying is done
 * by a short cut, not row by row, and every statement is logged after it was carried out.
 *
 * Table and log have a lock each and are never touched without. Who inserts keeps the table until the row is logged.
 * The short cut gives it back before: if a row is inserted and logged after the table was emptied and before that is
 * logged, the log tells it the wrong way round, and who replays it has another table.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CLIENTS = 5 };

enum statement { INSERT, DELETE_ALL };

struct table {
    pthread_mutex_t lock;
    long rows;
    long inserted;
    unsigned checksum;
};

struct log {
    pthread_mutex_t lock;
    unsigned char statements[CLIENTS + 1];
    long length;
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct log query_log = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t all_connected;
static int parse_work = 30000;

static unsigned parse_statement(unsigned text, int rounds) {
    for (int i = 0; i < rounds; i++)
        text = text * 1664525u + 1013904223u;
    return text;
}

static void append_to_log(struct log *log, enum statement what) {
    pthread_mutex_lock(&log->lock);
    log->statements[log->length] = (unsigned char)what;
    log->length++; /* BUG: 3, 4 */
    pthread_mutex_unlock(&log->lock);
}

/* With the table's lock held. */
static void insert_row(struct table *into, unsigned value) {
    into->checksum ^= value;
    into->rows++; /* BUG: 2 */
    into->inserted++;
}

/* Throws all rows away at once; what they were is not looked at. With the table's lock held. */
static void generate_table(struct table *empty) {
    empty->rows = 0; /* BUG: 1 */
}

static void *client(void *number) {
    pthread_barrier_wait(&all_connected);
    unsigned value = parse_statement(*(unsigned *)number, parse_work);
    pthread_mutex_lock(&table.lock);
    insert_row(&table, value);
    append_to_log(&query_log, INSERT);
    pthread_mutex_unlock(&table.lock);
    return NULL;
}

static void *administrator(void *unused) {
    (void)unused;
    pthread_barrier_wait(&all_connected);
    unsigned query = parse_statement(42, parse_work);
    pthread_mutex_lock(&table.lock);
    generate_table(&table);
#ifndef FIXED
    pthread_mutex_unlock(&table.lock);
#endif
    if (parse_statement(query, 6000) != 0)
        append_to_log(&query_log, DELETE_ALL);
#ifdef FIXED
    pthread_mutex_unlock(&table.lock);
#endif
    return NULL;
}

static long replay(const struct log *log) {
    long rows = 0;
    for (long i = 0; i < log->length; i++)
        rows = log->statements[i] == INSERT ? rows + 1 : 0;
    return rows;
}

int main(int count, char **arguments) {
    if (count > 1)
        parse_work = atoi(arguments[1]);
    unsigned numbers[CLIENTS];
    pthread_t clients[CLIENTS], emptying;
    pthread_barrier_init(&all_connected, NULL, CLIENTS + 1);
    for (unsigned i = 0; i < CLIENTS; i++) {
        numbers[i] = i;
        pthread_create(&clients[i], NULL, client, &numbers[i]);
    }
    pthread_create(&emptying, NULL, administrator, NULL);
    for (int i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    pthread_join(emptying, NULL);
    long replayed = replay(&query_log);
    printf("%ld inserted, %ld rows in the table, %ld when the log is replayed\n", table.inserted, table.rows, replayed);
    if (replayed != table.rows) {
        fprintf(stderr, "FAILED: the log does not tell what happened\n");
        return 1;
    }
    return 0;
}
