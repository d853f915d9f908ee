/* A server with a thread per connection. Each connection sends one statement that changes the account table, and
 * the server writes it into the log that its replica follows. A row carries a version, and the log the version that
 * a statement made, so that the replica can see whether it has missed something.
 *
 * Table and log are locked one after the other. Two connections can change the table in one order and write the log
 * in the other; then the replica stops.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONNECTIONS = 6, ROWS = 32 };

struct row {
    long amount;
    unsigned touched_by;
};

struct table {
    pthread_mutex_t lock;
    struct row rows[ROWS];
    long version;
};

struct log_entry {
    int row;
    long change;
    long version;
    char text[64];
};

struct log {
    pthread_mutex_t lock;
    struct log_entry entries[CONNECTIONS];
    int length;
};

struct connection {
    int number;
    int row;
    long change;
    unsigned plan;
};

static struct table table = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct log replication = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_barrier_t server_is_up;
static int plan_work = 20000;

#ifdef FIXED
static pthread_mutex_t commit_order = PTHREAD_MUTEX_INITIALIZER;
#endif

/* Parsing and planning: the part that takes the time. */
static unsigned make_plan(int number, int rounds) {
    unsigned plan = 0x9e3779b9u * (unsigned)(number + 1);
    for (int i = 0; i < rounds; i++)
        plan = (plan << 5 | plan >> 27) ^ (plan * 69069u);
    return plan;
}

static long change_table(struct table *in, const struct connection *by) {
    pthread_mutex_lock(&in->lock);
    struct row *row = &in->rows[by->row];
    row->amount += by->change;
    row->touched_by = (unsigned)by->number;
    long version = in->version + 1;
    in->version = version; /* BUG: 1, 2 */
    pthread_mutex_unlock(&in->lock);
    return version;
}

static void write_log(struct log *to, const struct connection *by, long version) {
    struct log_entry entry = {by->row, by->change, version, ""};
    snprintf(entry.text, sizeof entry.text, "UPDATE accounts SET amount = amount + %ld WHERE id = %d", by->change, by->row);
    pthread_mutex_lock(&to->lock);
    int at = to->length;
    to->entries[at] = entry;
    to->length = at + 1; /* BUG: 3, 4 */
    pthread_mutex_unlock(&to->lock);
}

static void *serve(void *argument) {
    struct connection *connection = argument;
    pthread_barrier_wait(&server_is_up);
    connection->plan = make_plan(connection->number, plan_work);
#ifdef FIXED
    pthread_mutex_lock(&commit_order);
#endif
    long version = change_table(&table, connection);
    write_log(&replication, connection, version);
#ifdef FIXED
    pthread_mutex_unlock(&commit_order);
#endif
    return NULL;
}

/* What the replica does: statement by statement, and it stops at the first that does not follow its last. */
static int replicate(const struct log *from, struct row *rows) {
    long version = 0;
    for (int i = 0; i < from->length; i++) {
        const struct log_entry *entry = &from->entries[i];
        if (entry->version != version + 1)
            return i;
        version = entry->version;
        rows[entry->row].amount += entry->change;
    }
    return from->length;
}

int main(int count, char **arguments) {
    if (count > 1)
        plan_work = atoi(arguments[1]);
    pthread_barrier_init(&server_is_up, NULL, CONNECTIONS);
    struct connection connections[CONNECTIONS];
    pthread_t threads[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i] = (struct connection){i, (i * 7) % ROWS, 100 - 30 * i, 0};
        pthread_create(&threads[i], NULL, serve, &connections[i]);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        pthread_join(threads[i], NULL);
    struct row replica[ROWS] = {{0, 0}};
    int applied = replicate(&replication, replica);
    printf("version %ld, %d of %d statements replicated\n", table.version, applied, CONNECTIONS);
    if (applied != CONNECTIONS) {
        fprintf(stderr, "FAILED: the replica stopped, the log is out of order\n");
        return 1;
    }
    return 0;
}
