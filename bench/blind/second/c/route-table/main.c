/* Routing table under a reader-writer lock, with a last-lookup shortcut. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORWARDERS 3
#define PACKETS 360
#define MAX_ROUTES 256
#define GATEWAY 0x0a000000u

struct route {
	uint32_t prefix;
	uint32_t hop;
	int metric;
};

static struct {
	pthread_rwlock_t lock;
	struct route route[MAX_ROUTES];
	int count;
	struct {
		uint32_t prefix;
		uint32_t hop;
	} last;
#ifdef FIXED
	pthread_mutex_t last_lock;
#endif
} rt = {
	.lock = PTHREAD_RWLOCK_INITIALIZER,
#ifdef FIXED
	.last_lock = PTHREAD_MUTEX_INITIALIZER,
#endif
};

static atomic_ulong forwarded, shortcut_hits;

static uint32_t hop_of(uint32_t prefix)
{
	return prefix * 2654435761u | 1;
}

static void route_add(uint32_t prefix, int metric)
{
	int i;

	pthread_rwlock_wrlock(&rt.lock);
	for (i = 0; i < rt.count; i++)
		if (rt.route[i].prefix == prefix)
			break;
	if (i < MAX_ROUTES) {
		rt.route[i] = (struct route){ prefix, hop_of(prefix), metric };
		if (i == rt.count)
			rt.count++;
	}
	rt.last.prefix = 0;
	rt.last.hop = 0;
	pthread_rwlock_unlock(&rt.lock);
}

static int shortcut_get(uint32_t prefix, uint32_t *hop)
{
	int hit = 0;
#ifdef FIXED
	pthread_mutex_lock(&rt.last_lock);
#endif
	if (rt.last.prefix == prefix) { /* BUG: c */
		*hop = rt.last.hop; /* BUG: d */
		hit = 1;
	}
#ifdef FIXED
	pthread_mutex_unlock(&rt.last_lock);
#endif
	return hit;
}

static void shortcut_set(const struct route *r)
{
#ifdef FIXED
	pthread_mutex_lock(&rt.last_lock);
#endif
	rt.last.prefix = r->prefix; /* BUG: a */
	rt.last.hop = r->hop; /* BUG: b */
#ifdef FIXED
	pthread_mutex_unlock(&rt.last_lock);
#endif
}

static uint32_t route_lookup(uint32_t prefix)
{
	uint32_t hop = 0;

	pthread_rwlock_rdlock(&rt.lock);
	if (shortcut_get(prefix, &hop)) {
		atomic_fetch_add(&shortcut_hits, 1);
	} else {
		for (int i = 0; i < rt.count; i++) {
			if (rt.route[i].prefix == prefix) {
				hop = rt.route[i].hop;
				shortcut_set(&rt.route[i]);
				break;
			}
		}
	}
	pthread_rwlock_unlock(&rt.lock);
	return hop;
}

static uint32_t checksum(uint32_t seed)
{
	uint32_t s = seed;
	for (int i = 0; i < 3000; i++)
		s = (s << 5 | s >> 27) ^ (uint32_t)i;
	return s;
}

static void *forwarder(void *arg)
{
	uint32_t id = (uint32_t)(uintptr_t)arg;
	uint32_t sum = id;

	for (uint32_t i = 0; i < PACKETS; i++) {
		sum = checksum(sum);
		uint32_t prefix = sum % 12 == 0 ? GATEWAY : 0xc0a80000u + id * 16 + i / 8 % 16;
		uint32_t hop = route_lookup(prefix);
		if (hop != hop_of(prefix)) {
			fprintf(stderr, "packet for %08x sent to wrong hop %08x\n", prefix, hop);
			exit(1);
		}
		atomic_fetch_add(&forwarded, 1);
	}
	return NULL;
}

static void *control_plane(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t s = checksum(i);
		route_add(0xac100000u + i, (int)(s % 16));
	}
	return NULL;
}

int main(void)
{
	pthread_t f[FORWARDERS], c;

	route_add(GATEWAY, 1);
	for (uint32_t i = 0; i < (FORWARDERS + 1) * 16; i++)
		route_add(0xc0a80000u + i, 2);
	pthread_create(&c, NULL, control_plane, NULL);
	for (uintptr_t i = 0; i < FORWARDERS; i++)
		pthread_create(&f[i], NULL, forwarder, (void *)i);
	for (int i = 0; i < FORWARDERS; i++)
		pthread_join(f[i], NULL);
	pthread_join(c, NULL);
	printf("forwarded %lu, shortcut %lu\n", atomic_load(&forwarded), atomic_load(&shortcut_hits));
	return 0;
}
