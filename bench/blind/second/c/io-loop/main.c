/* Completion loop: clients submit requests, I/O workers serve them, the loop runs the callbacks. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define CLIENTS 2
#define WORKERS 2
#define REQUESTS 100
#define TOTAL (CLIENTS * REQUESTS)
#define TABLE 256

struct request {
	unsigned id;
	uint32_t block;
	uint32_t result;
	struct request *next;
};

struct chan {
	pthread_mutex_t lock;
	pthread_cond_t ready;
	struct request *head, **tail;
	bool closed;
};

typedef void (*done_fn)(void *ctx, uint32_t result);

struct pending {
	done_fn fn;
	void *ctx;
};

static struct chan submitted = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &submitted.head, false };
static struct chan completed = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &completed.head, false };

static struct {
	pthread_mutex_t lock;
	struct pending slot[TABLE];
	unsigned live, orphans;
} inflight = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_uint next_id;

static void chan_put(struct chan *c, struct request *r)
{
	pthread_mutex_lock(&c->lock);
	r->next = NULL;
	if (!c->head)
		pthread_cond_broadcast(&c->ready);
	*c->tail = r;
	c->tail = &r->next;
	pthread_mutex_unlock(&c->lock);
}

static struct request *chan_get(struct chan *c)
{
	pthread_mutex_lock(&c->lock);
	while (!c->head && !c->closed)
		pthread_cond_wait(&c->ready, &c->lock);
	struct request *r = c->head;
	if (r && !(c->head = r->next))
		c->tail = &c->head;
	pthread_mutex_unlock(&c->lock);
	return r;
}

static void chan_close(struct chan *c)
{
	pthread_mutex_lock(&c->lock);
	c->closed = true;
	pthread_cond_broadcast(&c->ready);
	pthread_mutex_unlock(&c->lock);
}

static void expect(unsigned id, done_fn fn, void *ctx)
{
	pthread_mutex_lock(&inflight.lock);
	inflight.slot[id % TABLE] = (struct pending){ fn, ctx }; /* BUG: b */
	inflight.live++;
	pthread_mutex_unlock(&inflight.lock);
}

static unsigned submit(uint32_t block, done_fn fn, void *ctx)
{
	struct request *r = malloc(sizeof *r);
	unsigned id = atomic_fetch_add(&next_id, 1);

	r->id = id;
	r->block = block;
#ifdef FIXED
	expect(id, fn, ctx);
	chan_put(&submitted, r);
#else
	chan_put(&submitted, r); /* BUG: a */
	expect(id, fn, ctx); /* BUG: d */
#endif
	return id;
}

/* Completions of requests nobody waits for (cancelled ones) are dropped. */
static void dispatch(struct request *r)
{
	struct pending p;

	pthread_mutex_lock(&inflight.lock);
	p = inflight.slot[r->id % TABLE]; /* BUG: c */
	inflight.slot[r->id % TABLE] = (struct pending){ NULL, NULL };
	if (p.fn)
		inflight.live--;
	else
		inflight.orphans++;
	pthread_mutex_unlock(&inflight.lock);
	if (p.fn)
		p.fn(p.ctx, r->result);
	free(r);
}

static uint32_t read_block(uint32_t block)
{
	uint32_t h = block;
	for (int i = 0; i < 4000; i++)
		h = (h ^ h >> 15) * 2246822519u + 1;
	return h;
}

static void *io_worker(void *arg)
{
	struct request *r;

	(void)arg;
	while ((r = chan_get(&submitted)) != NULL) {
		r->result = read_block(r->block);
		chan_put(&completed, r);
	}
	return NULL;
}

static void on_block(void *ctx, uint32_t result)
{
	uint64_t *sum = ctx; /* callbacks run on the loop only */
	*sum += result;
}

static uint64_t sums[CLIENTS];

static void *client(void *arg)
{
	uint32_t n = (uint32_t)(uintptr_t)arg, at = n;

	for (int i = 0; i < REQUESTS; i++) {
		at = at * 1664525u + (uint32_t)i;
		submit(at, on_block, &sums[n]);
	}
	return NULL;
}

int main(void)
{
	pthread_t c[CLIENTS], w[WORKERS];

	for (uintptr_t i = 0; i < CLIENTS; i++)
		pthread_create(&c[i], NULL, client, (void *)i);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&w[i], NULL, io_worker, NULL);
	for (int i = 0; i < TOTAL; i++)
		dispatch(chan_get(&completed));
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(c[i], NULL);
	chan_close(&submitted);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(w[i], NULL);
	if (inflight.orphans || inflight.live) {
		fprintf(stderr, "%u callbacks never ran\n", inflight.live);
		return 1;
	}
	printf("sums %llu %llu\n", (unsigned long long)sums[0], (unsigned long long)sums[1]);
	return 0;
}
