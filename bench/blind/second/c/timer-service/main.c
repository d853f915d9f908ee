/* Timer service: a thread advances a wheel and calls the owner's handler for due timers. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHEEL 64
#define CLIENTS 2
#define PER_CLIENT 150
#define HOUSEKEEPING 8

struct timer {
	struct timer *next;
	unsigned id;
	unsigned rounds;
};

struct owner {
	atomic_ulong fired;
	atomic_ulong id_sum;
};

typedef void (*fire_fn)(struct owner *, unsigned id);

struct timer_service {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t armed;
	struct timer *wheel[WHEEL];
	unsigned now;
	unsigned pending;
	int closing;
	unsigned jitter[WHEEL];
	struct owner *owner;
	fire_fn on_fire;
};

static struct timer_service *service_new(void)
{
	struct timer_service *s = calloc(1, sizeof *s);

	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->armed, NULL);
	return s;
}

static void service_arm(struct timer_service *s, unsigned id, unsigned delay)
{
	struct timer *t = malloc(sizeof *t);

	t->id = id;
	pthread_mutex_lock(&s->lock);
	unsigned slot = (s->now + 1 + delay) % WHEEL;
	t->rounds = delay / WHEEL;
	t->next = s->wheel[slot];
	s->wheel[slot] = t;
	if (s->pending++ == 0)
		pthread_cond_signal(&s->armed);
	pthread_mutex_unlock(&s->lock);
}

static struct timer *take_due(struct timer_service *s)
{
	struct timer **pp, *due = NULL;

	s->now = (s->now + 1) % WHEEL;
	for (pp = &s->wheel[s->now]; *pp;) {
		struct timer *t = *pp;
		if (t->rounds > 0) {
			t->rounds--;
			pp = &t->next;
			continue;
		}
		*pp = t->next;
		t->next = due;
		due = t;
		s->pending--;
	}
	return due;
}

static void *service_main(void *arg)
{
	struct timer_service *s = arg;
	unsigned x = 12345;

	for (int i = 0; i < WHEEL; i++)
		for (int k = 0; k < 50000; k++)
			s->jitter[i] = x = x * 1664525u + 1013904223u;

	for (;;) {
		pthread_mutex_lock(&s->lock);
		while (s->pending == 0 && !s->closing)
			pthread_cond_wait(&s->armed, &s->lock);
		if (s->pending == 0 && s->closing) {
			pthread_mutex_unlock(&s->lock);
			return NULL;
		}
		struct timer *due = take_due(s);
		pthread_mutex_unlock(&s->lock);

		while (due) {
			struct timer *t = due;
			due = t->next;
			s->on_fire(s->owner, t->id); /* BUG: b */
			free(t);
		}
	}
}

static void service_start(struct timer_service *s, fire_fn fn, struct owner *o)
{
#ifdef FIXED
	s->owner = o;
	s->on_fire = fn;
#endif
	if (pthread_create(&s->thread, NULL, service_main, s) != 0) { /* BUG: c */
		perror("pthread_create");
		exit(2);
	}
#ifndef FIXED
	s->owner = o; /* BUG: d */
	s->on_fire = fn; /* BUG: a */
#endif
}

static void service_close(struct timer_service *s)
{
	pthread_mutex_lock(&s->lock);
	s->closing = 1;
	pthread_cond_signal(&s->armed);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
}

static void count_fire(struct owner *o, unsigned id)
{
	atomic_fetch_add(&o->fired, 1);
	atomic_fetch_add(&o->id_sum, id);
}

static void *client(void *arg)
{
	struct timer_service *s = arg;
	unsigned h = 7;

	for (unsigned i = 0; i < PER_CLIENT; i++) {
		for (int k = 0; k < 4000; k++)
			h = (h ^ i) * 16777619u + 1;
		service_arm(s, i, h % (WHEEL * 3));
	}
	return NULL;
}

int main(void)
{
	static struct owner owner;
	struct timer_service *s = service_new();
	pthread_t c[CLIENTS];
	unsigned long want = HOUSEKEEPING + CLIENTS * PER_CLIENT;

	for (unsigned i = 0; i < HOUSEKEEPING; i++)
		service_arm(s, 1000 + i, 4 + i * 3);
	service_start(s, count_fire, &owner);
	for (int i = 0; i < CLIENTS; i++)
		pthread_create(&c[i], NULL, client, s);
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(c[i], NULL);
	service_close(s);
	if (atomic_load(&owner.fired) != want) {
		fprintf(stderr, "fired %lu of %lu timers\n", atomic_load(&owner.fired), want);
		return 1;
	}
	printf("%lu timers, id sum %lu\n", want, atomic_load(&owner.id_sum));
	return 0;
}
