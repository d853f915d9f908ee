/* Size-bounded FIFO cache of blobs with a byte budget and an administrative clear. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITERS 2
#define PUTS 300
#define BUDGET 49152
#define CLEAR_EVERY 400

struct blob {
	struct blob *next;
	uint32_t key;
	uint32_t etag;
	long size;
	unsigned char data[];
};

struct cache {
	pthread_mutex_t lock;
	pthread_cond_t tick;
	struct blob *head, **tail;
	long used;
	long puts, evicted, cleared, hits;
	int closing;
};

static struct cache cache = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.tick = PTHREAD_COND_INITIALIZER,
	.tail = &cache.head,
};

static uint32_t fnv(const unsigned char *p, long n)
{
	uint32_t h = 2166136261u;
	while (n--)
		h = (h ^ *p++) * 16777619u;
	return h;
}

static struct blob *unlink_oldest(struct cache *c)
{
	struct blob *b = c->head;
	c->head = b->next; /* BUG: d */
	if (!c->head)
		c->tail = &c->head;
	return b;
}

static void evict_locked(struct cache *c)
{
	while (c->used > BUDGET && c->head) {
		struct blob *b = unlink_oldest(c);
		c->used -= b->size;
		if (++c->evicted % CLEAR_EVERY == 0)
			pthread_cond_signal(&c->tick);
		free(b);
	}
}

static void cache_put(struct cache *c, struct blob *b)
{
	long size = b->size;

	b->next = NULL;
	b->etag = fnv(b->data, size);
	pthread_mutex_lock(&c->lock);
	*c->tail = b; /* BUG: a */
	c->tail = &b->next;
	c->puts++;
#ifndef FIXED
	pthread_mutex_unlock(&c->lock);

	pthread_mutex_lock(&c->lock);
#endif
	c->used += size; /* BUG: b */
	evict_locked(c);
	pthread_mutex_unlock(&c->lock);
}

static int cache_has(struct cache *c, uint32_t key)
{
	int found = 0;

	pthread_mutex_lock(&c->lock);
	for (struct blob *b = c->head; b && !found; b = b->next)
		found = b->key == key;
	c->hits += found;
	pthread_mutex_unlock(&c->lock);
	return found;
}

static void cache_clear(struct cache *c)
{
	while (c->head)
		free(unlink_oldest(c));
	c->used = 0; /* BUG: c */
	c->cleared++;
}

/* Drops everything now and then, as an operator's "purge" would. */
static void *purger(void *arg)
{
	struct cache *c = arg;
	long next = CLEAR_EVERY;

	pthread_mutex_lock(&c->lock);
	for (;;) {
		while (!c->closing && c->evicted < next)
			pthread_cond_wait(&c->tick, &c->lock);
		if (c->closing)
			break;
		cache_clear(c);
		next = c->evicted + CLEAR_EVERY;
	}
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

static void *writer(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;

	for (uint32_t i = 0; i < PUTS; i++) {
		long size = 64 + rand_r(&seed) % 6000;
		struct blob *b = malloc(sizeof *b + (size_t)size);

		b->key = (uint32_t)(uintptr_t)arg * 100000 + i;
		b->size = size;
		for (long k = 0; k < size; k++)
			b->data[k] = (unsigned char)(seed >> (k & 7));
		cache_put(&cache, b);
		if (i % 4 == 0)
			cache_has(&cache, (uint32_t)(uintptr_t)arg * 100000 + i / 2);
	}
	return NULL;
}

int main(void)
{
	pthread_t w[WRITERS], p;
	long sum = 0;

	pthread_create(&p, NULL, purger, &cache);
	for (uintptr_t i = 0; i < WRITERS; i++)
		pthread_create(&w[i], NULL, writer, (void *)(i + 1));
	for (int i = 0; i < WRITERS; i++)
		pthread_join(w[i], NULL);
	pthread_mutex_lock(&cache.lock);
	cache.closing = 1;
	pthread_cond_signal(&cache.tick);
	pthread_mutex_unlock(&cache.lock);
	pthread_join(p, NULL);

	for (struct blob *b = cache.head; b; b = b->next)
		sum += b->size;
	if (sum != cache.used) {
		fprintf(stderr, "byte accounting off: %ld in list, %ld used\n", sum, cache.used);
		return 1;
	}
	printf("puts %ld evicted %ld cleared %ld hits %ld\n", cache.puts, cache.evicted, cache.cleared, cache.hits);
	return 0;
}
