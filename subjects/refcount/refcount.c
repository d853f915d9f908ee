/* A table of shared sessions, each with a count of references; no locks, only atomics. A session whose count comes
 * to zero is retired: its buffers are given back and its place is marked.
 *
 * Who wants a session looks whether anybody still has it, and if so adds itself to the count. When the last owner
 * lets go between the look and the addition, the session that comes out is retired.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { SESSIONS = 64 };

struct session {
    atomic_int references;
    atomic_int retired;
    atomic_uint traffic;
    int number;
};

struct visitor {
    int visited;
    int gone;
    int retired;
};

static struct session sessions[SESSIONS];
static atomic_long released;
static int work = 20000;

static unsigned encrypt(unsigned key, int rounds) {
    for (int i = 0; i < rounds; i++)
        key = (key ^ (key >> 11)) * 2246822519u;
    return key;
}

/* A reference to a session that somebody has, or NULL. */
static struct session *session_get(struct session *session) {
#ifdef FIXED
    int references = atomic_load(&session->references);
    while (references > 0)
        if (atomic_compare_exchange_weak(&session->references, &references, references + 1))
            return session;
    return NULL;
#else
    if (atomic_load(&session->references) == 0) /* BUG: 1 */
        return NULL;
    unsigned key = encrypt((unsigned)session->number, 1500);
    atomic_fetch_add(&session->references, 1); /* BUG: 3 */
    atomic_fetch_xor(&session->traffic, key);
    return session;
#endif
}

static void session_put(struct session *session) {
    if (atomic_fetch_sub(&session->references, 1) == 1) { /* BUG: 2 */
        atomic_store(&session->retired, 1);
        atomic_fetch_add(&released, 1);
    }
}

/* The owner of all sessions closes them, one after the other. */
static void *close_all(void *unused) {
    (void)unused;
    for (int i = 0; i < SESSIONS; i++) {
        unsigned key = encrypt((unsigned)i, work);
        atomic_fetch_xor(&sessions[i].traffic, key);
        session_put(&sessions[i]);
    }
    return NULL;
}

/* A visitor calls on them from the other end. */
static void *visit_all(void *argument) {
    struct visitor *visitor = argument;
    for (int i = SESSIONS - 1; i >= 0; i--) {
        unsigned key = encrypt((unsigned)i + 7, work);
        struct session *session = session_get(&sessions[i]);
        if (!session) {
            visitor->gone++;
            continue;
        }
        if (atomic_load(&session->retired)) {
            visitor->retired++;
            continue;
        }
        atomic_fetch_xor(&session->traffic, key);
        visitor->visited++;
        session_put(session);
    }
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        work = atoi(arguments[1]);
    for (int i = 0; i < SESSIONS; i++) {
        sessions[i].number = i;
        atomic_store(&sessions[i].references, 1);
    }
    struct visitor visitor = {0, 0, 0};
    pthread_t owner, visiting;
    pthread_create(&owner, NULL, close_all, NULL);
    pthread_create(&visiting, NULL, visit_all, &visitor);
    pthread_join(owner, NULL);
    pthread_join(visiting, NULL);
    printf("%d visited, %d gone, %ld released\n", visitor.visited, visitor.gone, atomic_load(&released));
    if (visitor.retired > 0) {
        fprintf(stderr, "FAILED: a session was used after it was retired\n");
        return 1;
    }
    return 0;
}
