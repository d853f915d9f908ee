/* Does what one scenario of scenarios/table.txt says, with unpick.h: its lines come on stdin, what the threads are told
 * goes to stdout. tests/scenarios.rs calls it. */
#include "unpick.h"

enum { MOST_LINES = 64, MOST_WORDS = 64 };

struct script {
    char name;
    int lines;
    char text[MOST_LINES][256];
    int results;
    char result[MOST_LINES][64];
};

static struct script scripts[26];
static char objects[10];
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static char list[MOST_WORDS][32];
static int list_length;

static const char *spelled(int outcome) {
    switch (outcome) {
    case UNPICK_HIT: return "hit";
    case UNPICK_HIT_DELAYED: return "hit, after a delay";
    case UNPICK_HIT_OUT_OF_ORDER: return "hit, out of order";
    case UNPICK_OFF: return "missed: off";
    case UNPICK_MISSED_CONDITION: return "missed: condition";
    case UNPICK_MISSED_LOCK_NOT_HELD: return "missed: lock not held";
    case UNPICK_MISSED_IGNORED: return "missed: ignored";
    case UNPICK_MISSED_BOUND_REACHED: return "missed: bound reached";
    case UNPICK_MISSED_TIMED_OUT: return "missed: timed out";
    case UNPICK_MISSED_CONTRADICTION: return "missed: contradiction";
    }
    return "?";
}

static int makes_ten(const void *mine, const void *theirs) {
    return *(const int *)mine + *(const int *)theirs == 10;
}

static int words_in_list(void) {
    int length;
    pthread_mutex_lock(&list_lock);
    length = list_length;
    pthread_mutex_unlock(&list_lock);
    return length;
}

static void add_to_list(const char *word) {
    pthread_mutex_lock(&list_lock);
    strncpy(list[list_length++], word, sizeof list[0] - 1);
    pthread_mutex_unlock(&list_lock);
}

static void pause_a_little(int *round) {
    struct timespec time = {0, 200000};
    nanosleep(&time, NULL);
    if (++*round == 100000) {
        fprintf(stderr, "the driver has waited too long: the scenario cannot go on\n");
        exit(2);
    }
}

/* The value behind `key=`, or what stands for none. */
static long long option(char **words, const char *key, long long otherwise) {
    for (; *words; words++)
        if (strncmp(*words, key, strlen(key)) == 0 && (*words)[strlen(key)] == '=')
            return atoll(*words + strlen(key) + 1);
    return otherwise;
}

static const char *lock_of(char **words) {
    for (; *words; words++)
        if (strncmp(*words, "lock=", 5) == 0)
            return *words + 5;
    return NULL;
}

#define ARRIVE(FORM, ...)                                                                                                  \
    (has_bound && lock                                                                                                   \
         ? FORM(__VA_ARGS__, role(k, n), pause_ms(pause), ignore_first(ignore), when(holds), bound(most), lock_held(lock)) \
     : has_bound ? FORM(__VA_ARGS__, role(k, n), pause_ms(pause), ignore_first(ignore), when(holds), bound(most))          \
     : lock      ? FORM(__VA_ARGS__, role(k, n), pause_ms(pause), ignore_first(ignore), when(holds), lock_held(lock))      \
                 : FORM(__VA_ARGS__, role(k, n), pause_ms(pause), ignore_first(ignore), when(holds)))
#define EITHER(...) (is_step ? ARRIVE(UNPICK_STEP, __VA_ARGS__) : ARRIVE(UNPICK_TRIGGER, __VA_ARGS__))

static int arrive(int is_step, char **words) {
    const char *kind = words[0], *name = words[1], *half;
    int first = 0, second = 0, k = 0, n = 2, holds;
    unpick_count_ ignore, most;
    long long pause;
    int has_bound;
    const char *lock = lock_of(words);
    words += 2;
    if (strcmp(kind, "rendezvous") != 0)
        first = atoi(*words++);
    if (strcmp(kind, "deadlock") == 0)
        second = atoi(*words++);
    half = *words++;
    if (strcmp(half, "second") == 0 || strcmp(half, "gap") == 0)
        k = 1;
    else if (strchr(half, '/')) {
        k = atoi(half);
        n = atoi(strchr(half, '/') + 1);
    }
    pause = option(words, "pause", 100);
    ignore = (unpick_count_)option(words, "ignore", 0);
    has_bound = option(words, "bound", -1) >= 0;
    most = (unpick_count_)option(words, "bound", 0);
    holds = option(words, "when", 1) != 0;
    if (strcmp(kind, "conflict") == 0)
        return EITHER(conflict(name, &objects[first]));
    if (strcmp(kind, "deadlock") == 0)
        return EITHER(deadlock(name, &objects[first], &objects[second]));
    if (strcmp(kind, "atomicity") == 0)
        return EITHER(atomicity(name, &objects[first]));
    if (strcmp(kind, "own") == 0)
        return EITHER(own(name, &first, makes_ten));
    return EITHER(rendezvous(name));
}

static void obey(struct script *script, char *line) {
    char *words[24] = {NULL}, *rest = NULL;
    int count = 0, round = 0;
    char *word = strtok_r(line, " ", &rest);
    for (; word && count < 23; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    if (strcmp(words[0], "trigger") == 0 || strcmp(words[0], "step") == 0)
        strcpy(script->result[script->results++], spelled(arrive(words[0][0] == 's', words + 1)));
    else if (strcmp(words[0], "done") == 0)
        UNPICK_DONE(words[1]);
    else if (strcmp(words[0], "waits") == 0)
        while (UNPICK_WAITING(words[1]) < atoi(words[2]))
            pause_a_little(&round);
    else if (strcmp(words[0], "mark") == 0)
        add_to_list(words[1]);
    else if (strcmp(words[0], "marks") == 0)
        while (words_in_list() < atoi(words[1]))
            pause_a_little(&round);
    else if (strcmp(words[0], "hold") == 0)
        UNPICK_HOLDING("caret");
    else if (strcmp(words[0], "release") == 0)
        UNPICK_RELEASED("caret");
    else {
        fprintf(stderr, "the driver does not know `%s`\n", words[0]);
        exit(2);
    }
}

static void *play(void *of) {
    struct script *script = (struct script *)of;
    int at;
    for (at = 0; at < script->lines; at++)
        obey(script, script->text[at]);
    return NULL;
}

int main(void) {
    pthread_t threads[26];
    char line[256];
    int i, at;
    while (fgets(line, sizeof line, stdin)) {
        struct script *script = &scripts[line[0] - 'A'];
        line[strcspn(line, "\n")] = 0;
        script->name = line[0];
        strcpy(script->text[script->lines++], line + 2);
    }
    for (i = 0; i < 26; i++)
        if (scripts[i].name)
            pthread_create(&threads[i], NULL, play, &scripts[i]);
    for (i = 0; i < 26; i++)
        if (scripts[i].name)
            pthread_join(threads[i], NULL);
    for (i = 0; i < 26; i++)
        for (at = 0; at < scripts[i].results; at++)
            printf("= %c %s\n", scripts[i].name, scripts[i].result[at]);
    printf("words");
    for (i = 0; i < list_length; i++)
        printf(" %s", list[i]);
    printf("\n");
    return 0;
}
