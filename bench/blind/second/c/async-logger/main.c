/* Asynchronous logger: callers format and queue lines, one writer thread emits them. */
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLIENTS 2
#define LINES 400

struct line {
	struct line *next;
	int level;
	char text[96];
};

struct logger {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct line *head, **tail;
	pthread_t writer;
	atomic_bool stopping;
	atomic_int min_level;
	atomic_ulong dropped;
	/* owned by the writer */
	unsigned long written;
	unsigned long digest;
};

static void emit(struct logger *lg, struct line *l)
{
	for (const char *p = l->text; *p; p++)
		lg->digest = lg->digest * 131 + (unsigned char)*p;
	lg->written++;
	free(l);
}

static void *writer_main(void *arg)
{
	struct logger *lg = arg;

	for (;;) {
		struct line *batch;

		pthread_mutex_lock(&lg->lock);
		while (lg->head == NULL) {
			if (atomic_load(&lg->stopping)) { /* BUG: a */
				pthread_mutex_unlock(&lg->lock);
				return NULL;
			}
			pthread_cond_wait(&lg->more, &lg->lock); /* BUG: b */
		}
		batch = lg->head;
		lg->head = NULL;
		lg->tail = &lg->head;
		pthread_mutex_unlock(&lg->lock);

		while (batch) {
			struct line *next = batch->next;
			emit(lg, batch);
			batch = next;
		}
	}
}

static void logger_start(struct logger *lg)
{
	memset(lg, 0, sizeof *lg);
	pthread_mutex_init(&lg->lock, NULL);
	pthread_cond_init(&lg->more, NULL);
	lg->tail = &lg->head;
	atomic_init(&lg->stopping, false);
	atomic_init(&lg->min_level, 1);
	pthread_create(&lg->writer, NULL, writer_main, lg);
}

static void logger_stop(struct logger *lg)
{
#ifdef FIXED
	pthread_mutex_lock(&lg->lock);
	atomic_store(&lg->stopping, true);
	pthread_cond_signal(&lg->more);
	pthread_mutex_unlock(&lg->lock);
#else
	atomic_store(&lg->stopping, true); /* BUG: c */
	pthread_cond_signal(&lg->more); /* BUG: d */
#endif
	pthread_join(lg->writer, NULL);
	pthread_cond_destroy(&lg->more);
	pthread_mutex_destroy(&lg->lock);
}

__attribute__((format(printf, 3, 4)))
static void log_line(struct logger *lg, int level, const char *fmt, ...)
{
	struct line *l;
	va_list ap;

	if (level < atomic_load(&lg->min_level)) {
		atomic_fetch_add(&lg->dropped, 1);
		return;
	}
	l = malloc(sizeof *l);
	l->next = NULL;
	l->level = level;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof l->text, fmt, ap);
	va_end(ap);

	pthread_mutex_lock(&lg->lock);
	bool was_empty = lg->head == NULL;
	*lg->tail = l;
	lg->tail = &l->next;
	if (was_empty)
		pthread_cond_signal(&lg->more);
	pthread_mutex_unlock(&lg->lock);
}

struct client {
	struct logger *lg;
	int id;
};

static void *client_main(void *arg)
{
	struct client *c = arg;
	unsigned long state = (unsigned long)c->id;

	for (int i = 0; i < LINES; i++) {
		for (int k = 0; k < 400; k++)
			state = state * 6364136223846793005ul + 1442695040888963407ul;
		log_line(c->lg, i % 4, "client %d step %d state %016lx", c->id, i, state);
	}
	return NULL;
}

int main(void)
{
	struct logger lg;
	struct client c[CLIENTS];
	pthread_t t[CLIENTS];

	logger_start(&lg);
	for (int i = 0; i < CLIENTS; i++) {
		c[i] = (struct client){ &lg, i + 1 };
		pthread_create(&t[i], NULL, client_main, &c[i]);
	}
	for (int i = 0; i < CLIENTS; i++)
		pthread_join(t[i], NULL);
	logger_stop(&lg);
	if (lg.written + atomic_load(&lg.dropped) != CLIENTS * LINES) {
		fprintf(stderr, "lines missing: %lu written\n", lg.written);
		return 1;
	}
	printf("%lu lines\n", lg.written);
	return 0;
}
