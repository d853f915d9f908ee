/* Connection table: workers open, use and drain connections; a reaper returns drained slots. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 64
#define WORKERS 3
#define ROUNDS 250
#define REAP_AT 12

enum conn_state { CONN_FREE, CONN_OPEN, CONN_DRAINING };

struct conn {
	enum conn_state state;
	unsigned gen;
	int peer;
	unsigned long bytes;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct conn slot[SLOTS];
	int draining;
	int stopping;
	unsigned long opened, recycled, reaped;
	unsigned long bytes_total;
} table = { .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER };

struct victim {
	int id;
	unsigned gen;
	unsigned long bytes;
};

static void conn_setup(struct conn *c, int peer)
{
	c->gen++;
	c->peer = peer;
	c->bytes = 0;
	c->state = CONN_OPEN; /* BUG: b */
	table.opened++;
}

static int conn_open(int peer)
{
	int id = -1;

	pthread_mutex_lock(&table.lock);
	for (int i = 0; i < SLOTS && id < 0; i++)
		if (table.slot[i].state == CONN_FREE)
			id = i;
	/* Table full: take over a drained connection right away. */
	for (int i = 0; i < SLOTS && id < 0; i++)
		if (table.slot[i].state == CONN_DRAINING) {
			table.draining--;
			table.recycled++;
			id = i;
		}
	if (id >= 0)
		conn_setup(&table.slot[id], peer);
	pthread_mutex_unlock(&table.lock);
	return id;
}

static int conn_send(int id, int peer, unsigned long n)
{
	pthread_mutex_lock(&table.lock);
	struct conn *c = &table.slot[id];
	int ok = c->state == CONN_OPEN && c->peer == peer;
	if (ok) {
		c->bytes += n;
		table.bytes_total += n;
	}
	pthread_mutex_unlock(&table.lock);
	return ok ? 0 : -1;
}

static void conn_drain(int id)
{
	pthread_mutex_lock(&table.lock);
	table.slot[id].state = CONN_DRAINING;
	if (++table.draining >= REAP_AT)
		pthread_cond_signal(&table.work);
	pthread_mutex_unlock(&table.lock);
}

static void conn_release(const struct victim *v)
{
	pthread_mutex_lock(&table.lock);
	struct conn *c = &table.slot[v->id];
#ifdef FIXED
	if (c->gen != v->gen || c->state != CONN_DRAINING) {
		pthread_mutex_unlock(&table.lock);
		return;
	}
	table.draining--;
	c->state = CONN_FREE;
#else
	if (table.draining > 0)
		table.draining--;
	c->state = CONN_FREE; /* BUG: c */
#endif
	table.reaped++;
	pthread_mutex_unlock(&table.lock);
}

static void *reaper(void *arg)
{
	unsigned long *digest = arg;

	for (;;) {
		struct victim v[SLOTS];
		int n = 0;

		pthread_mutex_lock(&table.lock);
		while (table.draining < REAP_AT && !table.stopping)
			pthread_cond_wait(&table.work, &table.lock);
		if (table.stopping) {
			pthread_mutex_unlock(&table.lock);
			return NULL;
		}
		for (int i = 0; i < SLOTS; i++)
			if (table.slot[i].state == CONN_DRAINING) /* BUG: a */
				v[n++] = (struct victim){ i, table.slot[i].gen, table.slot[i].bytes };
		pthread_mutex_unlock(&table.lock);

		for (int i = 0; i < n; i++)
			*digest = *digest * 31 + v[i].bytes;
		for (int i = 0; i < n; i++)
			conn_release(&v[i]);
	}
}

static unsigned long build_payload(unsigned seed)
{
	unsigned long h = seed;
	for (int i = 0; i < 1500; i++)
		h = (h ^ (unsigned)i) * 1099511628211ul;
	return h % 1400 + 1;
}

static void *worker(void *arg)
{
	int peer = (int)(long)arg;

	for (int r = 0; r < ROUNDS; r++) {
		int id = conn_open(peer);
		if (id < 0)
			continue;
		for (int k = 0; k < 3; k++) {
			if (conn_send(id, peer, build_payload((unsigned)(peer * 1000 + r + k))) != 0) {
				fprintf(stderr, "connection %d of peer %d closed underneath its owner\n", id, peer);
				exit(1);
			}
		}
		conn_drain(id);
	}
	return NULL;
}

int main(void)
{
	pthread_t w[WORKERS], rp;
	unsigned long digest = 0;

	pthread_create(&rp, NULL, reaper, &digest);
	for (long i = 0; i < WORKERS; i++)
		pthread_create(&w[i], NULL, worker, (void *)(i + 1));
	for (int i = 0; i < WORKERS; i++)
		pthread_join(w[i], NULL);
	pthread_mutex_lock(&table.lock);
	table.stopping = 1;
	pthread_cond_signal(&table.work);
	pthread_mutex_unlock(&table.lock);
	pthread_join(rp, NULL);
	printf("opened %lu recycled %lu reaped %lu bytes %lu\n", table.opened, table.recycled,
	       table.reaped, table.bytes_total);
	return 0;
}
