/* Strings of a script engine that are shared between threads. A string that was cut out of a longer one keeps the
 * longer one's letters alive; the collector makes such strings independent, which gives them letters of their own
 * and, as trailing blanks go on this occasion, a new length.
 *
 * The collector changes length and letters in one critical section. But who wants to print a string asks for its
 * length, makes room, and then asks for its letters: that may be the old length and the new letters.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct js_string {
    pthread_mutex_t lock;
    size_t length;
    char *letters;
    int independent;
};

struct printer {
    char *line;
    size_t length;
    unsigned width;
};

static struct js_string message = {.lock = PTHREAD_MUTEX_INITIALIZER};
#ifdef FIXED
static pthread_mutex_t whole = PTHREAD_MUTEX_INITIALIZER;
#endif
static int source_lines = 60;
static int mark_work = 3000;

static unsigned mark(unsigned color, int rounds) {
    for (int i = 0; i < rounds; i++)
        color = (color ^ (color >> 7)) * 2654435761u;
    return color;
}

/* Held by whoever needs more than one answer about a string, and by the collector. */
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

static size_t string_length(struct js_string *string) {
    pthread_mutex_lock(&string->lock);
    size_t length = string->length; /* BUG: 1 */
    pthread_mutex_unlock(&string->lock);
    return length;
}

static const char *string_letters(struct js_string *string) {
    pthread_mutex_lock(&string->lock);
    const char *letters = string->letters; /* BUG: 4 */
    pthread_mutex_unlock(&string->lock);
    return letters;
}

static char *without_blanks(const char *letters, size_t length, size_t *rest) {
    while (length > 0 && letters[length - 1] == ' ')
        length--;
    char *own = calloc(1, length + 64);
    memcpy(own, letters, length);
    *rest = length;
    return own;
}

static void make_independent(struct js_string *string) {
    pthread_mutex_lock(&string->lock);
    size_t length;
    char *own = without_blanks(string->letters, string->length, &length);
    string->length = length; /* BUG: 2 */
    string->letters = own;   /* BUG: 3 */
    string->independent = 1;
    pthread_mutex_unlock(&string->lock);
}

static void *collect(void *unused) {
    (void)unused;
    unsigned color = 1;
    for (int i = 0; i < source_lines; i++)
        color = mark(color, mark_work);
    hold_together();
    if (color != 0)
        make_independent(&message);
    let_go();
    return NULL;
}

static void *print(void *argument) {
    struct printer *printer = argument;
    printer->width = mark(2, source_lines * mark_work);
    hold_together();
    printer->length = string_length(&message);
    printer->line = calloc(1, printer->length + 1);
    memset(printer->line, '.', printer->length);
    memcpy(printer->line, string_letters(&message), printer->length);
    let_go();
    return NULL;
}

int main(int count, char **arguments) {
    if (count > 1)
        source_lines = atoi(arguments[1]);
    if (count > 2)
        mark_work = atoi(arguments[2]);
    char source[] = "the quick script jumps over the lazy engine            and goes on";
    message.letters = source;
    message.length = strlen(source) - strlen("and goes on");
    struct printer printer = {NULL, 0, 0};
    pthread_t collector, printing;
    pthread_create(&collector, NULL, collect, NULL);
    pthread_create(&printing, NULL, print, &printer);
    pthread_join(collector, NULL);
    pthread_join(printing, NULL);
    size_t seen = strlen(printer.line);
    printf("\"%s\" on a page %u wide\n", printer.line, printer.width % 100);
    free(printer.line);
    free(message.letters);
    if (seen != printer.length) {
        fprintf(stderr, "FAILED: %zu letters expected, %zu there\n", printer.length, seen);
        return 1;
    }
    return 0;
}
