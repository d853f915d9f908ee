/* SQLite, the real program: each thread has its own connection to one in-memory database in shared-cache mode.
 *
 * SIZE is the number of transactions. The library's source comes from the crate `libsqlite3-sys`. Each transaction inserts
 * orders, raises balances and reads them back. Verified: balances and orders add up.
 */
#include "workload.h"

#include "sqlite3.h"

enum { ACCOUNTS = 200, ORDERS_PER_TRANSACTION = 10, READS_PER_TRANSACTION = 4 };

static const char DATABASE[] = "file:bench?mode=memory&cache=shared";

struct shop {
    long transactions;
};

static sqlite3 *connect_shared(void)
{
    sqlite3 *connection;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
    require(sqlite3_open_v2(DATABASE, &connection, flags, NULL) == SQLITE_OK, "cannot open the database");
    return connection;
}

/* What `sqlite3_unlock_notify` calls when the connection that held the lock has finished. */
struct wake_up {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int fired;
};

static void fire(void **waiters, int count)
{
    for (int at = 0; at < count; at++) {
        struct wake_up *wake_up = waiters[at];
        pthread_mutex_lock(&wake_up->lock);
        wake_up->fired = 1;
        pthread_cond_signal(&wake_up->changed);
        pthread_mutex_unlock(&wake_up->lock);
    }
}

static void wait_for_unlock(sqlite3 *connection)
{
    struct wake_up wake_up = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    require(sqlite3_unlock_notify(connection, fire, &wake_up) == SQLITE_OK, "deadlock between connections");
    pthread_mutex_lock(&wake_up.lock);
    while (!wake_up.fired)
        pthread_cond_wait(&wake_up.changed, &wake_up.lock);
    pthread_mutex_unlock(&wake_up.lock);
    pthread_cond_destroy(&wake_up.changed);
    pthread_mutex_destroy(&wake_up.lock);
}

/* One step of a statement, waiting while another connection holds the tables it needs. */
static int step(sqlite3_stmt *statement)
{
    for (;;) {
        int code = sqlite3_step(statement);
        if (code == SQLITE_ROW || code == SQLITE_DONE)
            return code;
        sqlite3 *connection = sqlite3_db_handle(statement);
        require((code & 0xff) == SQLITE_LOCKED, sqlite3_errmsg(connection));
        sqlite3_reset(statement);
        wait_for_unlock(connection);
    }
}

static sqlite3_stmt *prepare(sqlite3 *connection, const char *sql)
{
    sqlite3_stmt *statement;
    for (;;) {
        int code = sqlite3_prepare_v2(connection, sql, -1, &statement, NULL);
        if (code == SQLITE_OK)
            return statement;
        require((code & 0xff) == SQLITE_LOCKED, sqlite3_errmsg(connection));
        wait_for_unlock(connection);
    }
}

static void execute(sqlite3_stmt *statement)
{
    while (step(statement) == SQLITE_ROW)
        ;
    sqlite3_reset(statement);
}

static void execute_text(sqlite3 *connection, const char *sql)
{
    sqlite3_stmt *statement = prepare(connection, sql);
    execute(statement);
    sqlite3_finalize(statement);
}

static int64_t query(sqlite3 *connection, const char *sql)
{
    sqlite3_stmt *statement = prepare(connection, sql);
    require(step(statement) == SQLITE_ROW, "a query gave no row");
    int64_t value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

struct client {
    sqlite3 *connection;
    sqlite3_stmt *begin, *commit, *insert_order, *raise_balance, *read_orders;
};

static struct client open_client(void)
{
    struct client client = {connect_shared()};
    client.begin = prepare(client.connection, "BEGIN IMMEDIATE");
    client.commit = prepare(client.connection, "COMMIT");
    client.insert_order = prepare(client.connection, "INSERT INTO orders(account, amount, note) VALUES(?1, ?2, ?3)");
    client.raise_balance = prepare(client.connection, "UPDATE accounts SET balance = balance + ?2 WHERE id = ?1");
    client.read_orders = prepare(client.connection, "SELECT count(*), sum(length(note)) FROM orders WHERE account = ?1");
    return client;
}

static void close_client(struct client *client)
{
    sqlite3_finalize(client->begin);
    sqlite3_finalize(client->commit);
    sqlite3_finalize(client->insert_order);
    sqlite3_finalize(client->raise_balance);
    sqlite3_finalize(client->read_orders);
    sqlite3_close(client->connection);
}

static void order(struct client *client, uint64_t drawn)
{
    char note[48];
    int64_t account = drawn % ACCOUNTS, amount = drawn / ACCOUNTS % 100;
    snprintf(note, sizeof note, "order %016llx", (unsigned long long)drawn);
    sqlite3_bind_int64(client->insert_order, 1, account);
    sqlite3_bind_int64(client->insert_order, 2, amount);
    sqlite3_bind_text(client->insert_order, 3, note, -1, SQLITE_TRANSIENT);
    execute(client->insert_order);
    sqlite3_bind_int64(client->raise_balance, 1, account);
    sqlite3_bind_int64(client->raise_balance, 2, amount);
    execute(client->raise_balance);
}

static void transact(struct client *client, long number)
{
    execute(client->begin);
    for (int at = 0; at < ORDERS_PER_TRANSACTION; at++)
        order(client, scramble(number * ORDERS_PER_TRANSACTION + at));
    execute(client->commit);
    for (int at = 0; at < READS_PER_TRANSACTION; at++) {
        sqlite3_bind_int64(client->read_orders, 1, scramble(number + at) % ACCOUNTS);
        execute(client->read_orders);
    }
}

static void trade(int index, int threads, void *shared)
{
    struct shop *shop = shared;
    struct client client = open_client();
    long end = share_start(shop->transactions, index + 1, threads);
    for (long number = share_start(shop->transactions, index, threads); number < end; number++)
        transact(&client, number);
    close_client(&client);
}

static void create_tables(sqlite3 *connection)
{
    execute_text(connection, "CREATE TABLE accounts(id INTEGER PRIMARY KEY, balance INTEGER)");
    execute_text(connection, "CREATE TABLE orders(id INTEGER PRIMARY KEY, account INTEGER, amount INTEGER, note TEXT)");
    execute_text(connection, "CREATE INDEX orders_by_account ON orders(account)");
    char sql[96];
    for (int account = 0; account < ACCOUNTS; account++) {
        snprintf(sql, sizeof sql, "INSERT INTO accounts VALUES(%d, 0)", account);
        execute_text(connection, sql);
    }
}

int main(int argc, char **argv)
{
    struct arguments given = read_arguments(argc, argv);
    struct shop shop = {given.size};
    sqlite3_enable_shared_cache(1);
    sqlite3 *connection = connect_shared();
    create_tables(connection);

    run_on_threads(given.threads, trade, &shop);

    int64_t ordered = query(connection, "SELECT sum(amount) FROM orders");
    require(query(connection, "SELECT count(*) FROM orders") == given.size * ORDERS_PER_TRANSACTION, "orders were lost");
    require(query(connection, "SELECT sum(balance) FROM accounts") == ordered, "balances differ from orders");
    uint64_t checksum = mix_into(ordered, query(connection, "SELECT sum(id * balance) FROM accounts"));
    sqlite3_close(connection);
    return print_checksum(checksum);
}
