/* A replication slave. It follows its master through numbered log files: a file and a position in it. The thread
 * that reads from the network moves on to the next file when the master rotates its log; an administrator asks for
 * the status in the meantime.
 *
 * Moving on changes file and position in one critical section. But the status is put together from two calls: what
 * the first one says of the file may be out of date when the second one says the position.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 4, INDEX = 256, NAME = 32 };

struct master_info {
    pthread_mutex_t lock;
    int file;
    long position;
    long events;
};

struct status {
    char file_name[NAME];
    int at_index;
    int file;
    long position;
    char text[256];
};

static struct master_info master = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = 1, .position = HEADER};
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif
static char log_index[INDEX][NAME];
static long file_length;
static pthread_barrier_t connected;
static int event_count = 40;
static int event_work = 300;

static unsigned apply_event(unsigned event, int rounds) {
    for (int i = 0; i < rounds; i++)
        event = (event ^ (event << 13)) * 2654435761u;
    return event;
}

/* What has to be seen or changed as a whole is held together. */
static void hold_together(void) {
#ifdef FIXED
    pthread_mutex_lock(&whole);
#endif
}

static void let_go(void) {
#ifdef FIXED
    pthread_mutex_unlock(&whole);
#endif
}

static int current_file(struct master_info *info) {
    pthread_mutex_lock(&info->lock);
    int file = info->file; /* BUG: 1 */
    pthread_mutex_unlock(&info->lock);
    return file;
}

static long current_position(struct master_info *info) {
    pthread_mutex_lock(&info->lock);
    long position = info->position; /* BUG: 4 */
    pthread_mutex_unlock(&info->lock);
    return position;
}

static void rotate(struct master_info *info) {
    pthread_mutex_lock(&info->lock);
    info->file = info->file + 1; /* BUG: 2 */
    info->position = HEADER;     /* BUG: 3 */
    pthread_mutex_unlock(&info->lock);
}

static void count_event(struct master_info *info) {
    pthread_mutex_lock(&info->lock);
    info->events++;
    pthread_mutex_unlock(&info->lock);
}

/* The log of the master that is at hand when the slave starts has been read to its end; then it is rotated. */
static void *read_from_master(void *unused) {
    (void)unused;
    unsigned event = 7;
    pthread_barrier_wait(&connected);
    for (int i = 0; i < event_count; i++) {
        event = apply_event(event, event_work);
        count_event(&master);
    }
    hold_together();
    rotate(&master);
    let_go();
    return NULL;
}

static void name_of_file(int file, char *name, size_t size) { snprintf(name, size, "master-bin.%06d", file); }

/* Which line of the index of log files has this name. */
static int find_in_index(const char *name) {
    for (int line = INDEX - 1; line >= 0; line--)
        if (strcmp(log_index[line], name) == 0)
            return line;
    return -1;
}

static void *show_status(void *result) {
    struct status *status = result;
    pthread_barrier_wait(&connected);
    unsigned query = apply_event(3, event_count * event_work);
    hold_together();
    status->file = current_file(&master);
    name_of_file(status->file, status->file_name, sizeof status->file_name);
    status->at_index = find_in_index(status->file_name);
    status->position = current_position(&master);
    let_go();
    snprintf(status->text, sizeof status->text, "query %u: %s (%d) at %ld", query % 10, status->file_name,
             status->at_index, status->position);
    return NULL;
}

static int is_sound(const struct status *status) {
    return status->file == 1 ? status->position == file_length : status->position == HEADER;
}

int main(int count, char **arguments) {
    if (count > 1)
        event_count = atoi(arguments[1]);
    if (count > 2)
        event_work = atoi(arguments[2]);
    for (int line = 0; line < INDEX; line++)
        name_of_file(line, log_index[line], NAME);
    file_length = HEADER + 100L * event_count;
    master.position = file_length;
    struct status status;
    memset(&status, 0, sizeof status);
    pthread_t network, administrator;
    pthread_barrier_init(&connected, NULL, 2);
    pthread_create(&network, NULL, read_from_master, NULL);
    pthread_create(&administrator, NULL, show_status, &status);
    pthread_join(network, NULL);
    pthread_join(administrator, NULL);
    printf("%s\n", status.text);
    if (!is_sound(&status)) {
        fprintf(stderr, "FAILED: the master has no such position in that file\n");
        return 1;
    }
    return 0;
}
