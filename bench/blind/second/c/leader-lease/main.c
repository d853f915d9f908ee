/* Replicated-log front end: the node holding the lease appends; a supervisor rotates the lease. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 3
#define TOTAL 600
#define ROTATE_EVERY 60

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int holder;
	int previous;
	unsigned term;
	bool closed;
} lease = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, -1, -1, 0, false };

struct record {
	unsigned term;
	int node;
	uint64_t value;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t grown;
	struct record rec[TOTAL];
	int len;
	unsigned newest_term;
} jrnl = { .lock = PTHREAD_MUTEX_INITIALIZER, .grown = PTHREAD_COND_INITIALIZER };

/* Blocks until this node leads; returns the term, or 0 once the cluster is closed. */
static unsigned lease_acquire(int node)
{
	unsigned term = 0;

	pthread_mutex_lock(&lease.lock);
	while (!lease.closed && (lease.holder != -1 || lease.previous == node))
		pthread_cond_wait(&lease.changed, &lease.lock);
	if (!lease.closed) {
		lease.holder = node; /* BUG: c */
		term = ++lease.term;
	}
	pthread_mutex_unlock(&lease.lock);
	return term;
}

static bool lease_held(int node, unsigned term)
{
	bool held;

	pthread_mutex_lock(&lease.lock);
	held = !lease.closed && lease.holder == node && lease.term == term; /* BUG: a */
	pthread_mutex_unlock(&lease.lock);
	return held;
}

static void lease_revoke(void)
{
	pthread_mutex_lock(&lease.lock);
	if (lease.holder != -1) {
		lease.previous = lease.holder;
		lease.holder = -1; /* BUG: b */
		pthread_cond_broadcast(&lease.changed);
	}
	pthread_mutex_unlock(&lease.lock);
}

static void lease_close(void)
{
	pthread_mutex_lock(&lease.lock);
	lease.closed = true;
	pthread_cond_broadcast(&lease.changed);
	pthread_mutex_unlock(&lease.lock);
}

static bool journal_append(const struct record *r)
{
	bool done = false;

	pthread_mutex_lock(&jrnl.lock);
#ifdef FIXED
	if (r->term < jrnl.newest_term) {
		pthread_mutex_unlock(&jrnl.lock);
		return false;
	}
#endif
	if (jrnl.len < TOTAL) {
		jrnl.newest_term = r->term;
		jrnl.rec[jrnl.len++] = *r; /* BUG: d */
		done = true;
		if (jrnl.len % ROTATE_EVERY == 0)
			pthread_cond_signal(&jrnl.grown);
	}
	pthread_mutex_unlock(&jrnl.lock);
	return done;
}

static uint64_t encode(int node, unsigned seq)
{
	uint64_t h = (uint64_t)node << 32 | seq;
	for (int i = 0; i < 4000; i++)
		h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9ull;
	return h;
}

static void *node_main(void *arg)
{
	int node = (int)(intptr_t)arg;
	unsigned seq = 0, term;

	while ((term = lease_acquire(node)) != 0) {
		struct record r = { term, node, encode(node, seq) };

		while (lease_held(node, term)) {
			if (!journal_append(&r))
				break;
			r.value = encode(node, ++seq);
		}
	}
	return NULL;
}

static void *supervisor(void *arg)
{
	int seen = 0;

	(void)arg;
	while (seen < TOTAL) {
		pthread_mutex_lock(&jrnl.lock);
		while (jrnl.len < seen + ROTATE_EVERY && jrnl.len < TOTAL)
			pthread_cond_wait(&jrnl.grown, &jrnl.lock);
		seen = jrnl.len;
		pthread_mutex_unlock(&jrnl.lock);
		lease_revoke();
	}
	lease_close();
	return NULL;
}

int main(void)
{
	pthread_t n[NODES], s;

	pthread_create(&s, NULL, supervisor, NULL);
	for (intptr_t i = 0; i < NODES; i++)
		pthread_create(&n[i], NULL, node_main, (void *)i);
	for (int i = 0; i < NODES; i++)
		pthread_join(n[i], NULL);
	pthread_join(s, NULL);

	for (int i = 1; i < jrnl.len; i++) {
		if (jrnl.rec[i].term < jrnl.rec[i - 1].term) {
			fprintf(stderr, "journal term went backwards at %d: %u after %u\n", i,
				jrnl.rec[i].term, jrnl.rec[i - 1].term);
			abort();
		}
	}
	printf("%d records, %u terms\n", jrnl.len, lease.term);
	return 0;
}
