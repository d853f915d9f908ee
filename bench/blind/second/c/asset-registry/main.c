/* Registry of shared, reference-counted assets that are loaded on demand and unloaded with the last user. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define USERS 3
#define FRAMES 150
#define BUCKETS 16
#define POOL 32
#define SHARED_ASSET 7

struct asset {
	struct asset *next;
	int name;
	bool linked;
	atomic_int refs;
	uint32_t pixels[64];
};

static struct {
	pthread_mutex_t lock;
	struct asset *bucket[BUCKETS];
	struct asset *spare;
	struct asset pool[POOL];
	unsigned loads, unloads;
} reg = { .lock = PTHREAD_MUTEX_INITIALIZER };

static atomic_ulong drawn;

static void stale(int name)
{
	fprintf(stderr, "asset %d used after release\n", name);
	abort();
}

static void asset_load(struct asset *a, int name)
{
	uint32_t h = (uint32_t)name * 2654435761u;

	a->name = name;
	a->linked = true;
	for (int i = 0; i < 64; i++)
		a->pixels[i] = h = h * 1664525u + 1013904223u;
	atomic_store(&a->refs, 1);
	reg.loads++;
}

static struct asset *asset_acquire(int name)
{
	struct asset *a, **b = &reg.bucket[name % BUCKETS];

	pthread_mutex_lock(&reg.lock);
	for (a = *b; a; a = a->next)
		if (a->name == name)
			break;
	if (a) {
		atomic_fetch_add(&a->refs, 1); /* BUG: b */
	} else if ((a = reg.spare) != NULL) {
		reg.spare = a->next;
		asset_load(a, name);
		a->next = *b;
		*b = a;
	}
	pthread_mutex_unlock(&reg.lock);
	return a;
}

static void unload_locked(struct asset *a)
{
	struct asset **pp = &reg.bucket[a->name % BUCKETS];

	if (!a->linked)
		stale(a->name);
	while (*pp != a)
		pp = &(*pp)->next;
	*pp = a->next;
	a->linked = false; /* BUG: c */
	a->next = reg.spare;
	reg.spare = a;
	reg.unloads++;
}

static void asset_release(struct asset *a)
{
#ifdef FIXED
	pthread_mutex_lock(&reg.lock);
	if (atomic_fetch_sub(&a->refs, 1) == 1)
		unload_locked(a);
	pthread_mutex_unlock(&reg.lock);
#else
	if (atomic_fetch_sub(&a->refs, 1) == 1) { /* BUG: a */
		pthread_mutex_lock(&reg.lock); /* BUG: d */
		unload_locked(a); /* BUG: e */
		pthread_mutex_unlock(&reg.lock);
	}
#endif
}

static uint32_t asset_draw(struct asset *a, int name)
{
	uint32_t s = 0;

	pthread_mutex_lock(&reg.lock);
	if (!a->linked || a->name != name)
		stale(name);
	for (int i = 0; i < 64; i++)
		s ^= a->pixels[i];
	pthread_mutex_unlock(&reg.lock);
	atomic_fetch_add(&drawn, 1);
	return s;
}

static uint32_t shade(uint32_t s)
{
	for (int i = 0; i < 6000; i++)
		s = (s << 7 | s >> 25) * 2246822519u + (uint32_t)i;
	return s;
}

static void *user(void *arg)
{
	int id = (int)(intptr_t)arg;
	uint32_t s = (uint32_t)id + 1;

	for (int f = 0; f < FRAMES; f++) {
		s = shade(s);
		int name = s % 16 == 0 ? SHARED_ASSET : 100 * (id + 1) + (int)(s % 5);
		struct asset *a = asset_acquire(name);
		if (!a) {
			fprintf(stderr, "out of assets\n");
			exit(2);
		}
		s = shade(s ^ asset_draw(a, name));
		s ^= asset_draw(a, name);
		asset_release(a);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[USERS];

	for (int i = 0; i < POOL; i++) {
		reg.pool[i].next = reg.spare;
		reg.spare = &reg.pool[i];
	}
	for (intptr_t i = 0; i < USERS; i++)
		pthread_create(&t[i], NULL, user, (void *)i);
	for (int i = 0; i < USERS; i++)
		pthread_join(t[i], NULL);
	if (reg.loads != reg.unloads) {
		fprintf(stderr, "assets leaked\n");
		return 1;
	}
	printf("loads %u drawn %lu\n", reg.loads, atomic_load(&drawn));
	return 0;
}
