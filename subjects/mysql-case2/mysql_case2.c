/* The monitor of a database server: it prints what each session is doing just now. A session that works on a
 * statement has a text for that, and a session at rest has none.
 *
 * The monitor asks whether there is a text, prints the head of the line, and then the text. When the session comes
 * to rest in between, there is none any more.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 4, PAGE = 4096 };

struct session {
    pthread_mutex_t lock;
    int number;
    const char *info;
    long statements;
    unsigned result;
};

/* What all sessions have done together. */
struct totals {
    pthread_mutex_t lock;
    long rows_read;
    long answers;
};

struct page {
    pthread_mutex_t lock;
    char text[PAGE];
    size_t length;
};

static struct session sessions[SESSIONS];
static struct totals totals = {.lock = PTHREAD_MUTEX_INITIALIZER};
static int step_work = 30000;
static int reports = 150;

static unsigned work(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = seed * 1103515245u + 12345u;
    return seed;
}

static void lock_info(struct session *session) {
#ifdef FIXED
    pthread_mutex_lock(&session->lock);
#else
    (void)session;
#endif
}

static void unlock_info(struct session *session) {
#ifdef FIXED
    pthread_mutex_unlock(&session->lock);
#else
    (void)session;
#endif
}

static void enter_step(struct session *session, const char *step) {
    lock_info(session);
    session->info = step;
    unlock_info(session);
}

static void end_statement(struct session *session) {
    lock_info(session);
    session->info = NULL; /* BUG: 2 */
    unlock_info(session);
    session->statements++;
}

static void count(long rows_read, long answers) {
    pthread_mutex_lock(&totals.lock);
    totals.rows_read += rows_read;
    totals.answers += answers;
    pthread_mutex_unlock(&totals.lock);
}

/* One statement, step by step. */
static void *run_session(void *argument) {
    static const char *const steps[] = {"Opening tables", "Sorting result", "Sending data", "Writing to net"};
    struct session *session = argument;
    for (int i = 0; i < 4; i++) {
        enter_step(session, steps[i]);
        session->result ^= work((unsigned)(session->number + i), step_work);
        count(session->result % 100, i == 3);
    }
    end_statement(session);
    return NULL;
}

static void put(struct page *page, const char *text) {
    size_t length = strlen(text);
    pthread_mutex_lock(&page->lock);
    if (page->length + length + 1 >= sizeof page->text)
        page->length = 0;
    memcpy(page->text + page->length, text, length);
    page->length += length;
    pthread_mutex_unlock(&page->lock);
}

static void print_session(struct page *page, struct session *session) {
    lock_info(session);
    if (session->info) { /* BUG: 1 */
        char head[64];
        snprintf(head, sizeof head, "session %d, thread id %lu: ", session->number, (unsigned long)session->number * 17);
        put(page, head);
        put(page, session->info); /* BUG: 3 */
        put(page, "\n");
    }
    unlock_info(session);
}

static void *monitor(void *argument) {
    struct page *page = argument;
    unsigned seed = 1;
    for (int i = 0; i < reports; i++) {
        for (int s = 0; s < SESSIONS; s++)
            print_session(page, &sessions[s]);
        seed = work(seed, 300);
        char line[32];
        snprintf(line, sizeof line, "-- report %d (%u)\n", i, seed % 1000);
        put(page, line);
    }
    return NULL;
}

int main(int argument_count, char **arguments) {
    if (argument_count > 1)
        step_work = atoi(arguments[1]);
    if (argument_count > 2)
        reports = atoi(arguments[2]);
    pthread_t threads[SESSIONS], monitoring;
    static struct page page = {.lock = PTHREAD_MUTEX_INITIALIZER};
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i].number = i + 1;
        pthread_mutex_init(&sessions[i].lock, NULL);
        pthread_create(&threads[i], NULL, run_session, &sessions[i]);
    }
    pthread_create(&monitoring, NULL, monitor, &page);
    long done = 0;
    for (int i = 0; i < SESSIONS; i++) {
        pthread_join(threads[i], NULL);
        done += sessions[i].statements;
    }
    pthread_join(monitoring, NULL);
    printf("%ld statements, %ld answers, %zu letters of reports\n", done, totals.answers, page.length);
    return 0;
}
