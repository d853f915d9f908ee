/* unpick.h: concurrent breakpoints for tests of C and C++ programs. https://crates.io/crates/unpick-breakpoint
 *
 * Threads wait for each other at named places and go on in the order you say:
 *
 *     thread one:  UNPICK_TRIGGER(conflict("lost-update", &balance), second());
 *                  balance = read + 1;
 *     thread two:  UNPICK_STEP(conflict("lost-update", &balance), first());
 *                  balance = 0;
 *                  UNPICK_DONE("lost-update");
 *
 * Switched on by -DUNPICK_BREAKPOINTS. Without it every macro expands to nothing: arguments are not evaluated and
 * nothing of them is in the program. It takes no library but pthreads, and no setup. If you compile with a strict
 * -std=c99 or -std=c11, include it first or define _GNU_SOURCE.
 *
 * A breakpoint says what it is for,
 *     conflict(name, object)          the threads are about to touch the same object
 *     deadlock(name, held, wanted)    each wants the lock the other one holds; they go on at once
 *     atomicity(name, object)         one thread is between two accesses, another one about to make its own
 *     own(name, state, fits)          int fits(const void *mine, const void *theirs) says so; *state is copied,
 *                                     at most 64 bytes; no lock of ours is held while fits runs
 *     rendezvous(name)                whatever they are about to do
 * then which half it is,
 *     first() second()                the order in which they go on
 *     role(k, n)                      one of n, from 0
 *     intruder() gap()                of atomicity: the intruder goes first
 * then, if wanted,
 *     pause_ms(ms)                    how long to wait for the others, 100 if not said, at most 600000;
 *                                     0 waits for nobody and meets only those who wait already
 *     ignore_first(n)                 arrivals here that do not count
 *     bound(n)                        after n hits nobody waits any more
 *     when(condition)                 counts only if it holds
 *     lock_held(name)                 counts only between UNPICK_HOLDING(name) and UNPICK_RELEASED(name)
 *
 *     UNPICK_TRIGGER(...)   waits. Those behind this thread are held back for 10 ms more.
 *     UNPICK_STEP(...)      waits. Those behind this thread are held back until
 *     UNPICK_DONE(name)     says that its step is done, at most for their own pause.
 * Both give a number, an UNPICK_HIT... if it is above zero.
 *     UNPICK_REPORT()       prints what was counted so far; it is printed at exit too.
 *     UNPICK_WAITING(name)  how many threads wait there now.
 *
 * Environment: UNPICK_BREAKPOINTS=off | on | name,name    UNPICK_BREAKPOINT_PAUSE_MS=ms, in place of every pause
 *              UNPICK_BREAKPOINT_REPORT=file, counts as a line of JSON per breakpoint
 *
 * The state is one weak object, which the linker makes one for all files of a program and the libraries it is linked
 * with. A library that is opened by dlopen shares it if the program is linked with -rdynamic. Not for signal handlers.
 *
 * Licence: MIT OR Apache-2.0, as Unpick. */
#ifndef UNPICK_H
#define UNPICK_H

enum unpick_outcome {
    UNPICK_HIT = 1,              /* it was this thread's turn */
    UNPICK_HIT_DELAYED = 2,      /* the thread before does not say when it is done: it was given a short time */
    UNPICK_HIT_OUT_OF_ORDER = 3, /* the thread before was not done in time */
    UNPICK_OFF = 0,
    UNPICK_MISSED_CONDITION = -1,
    UNPICK_MISSED_LOCK_NOT_HELD = -2,
    UNPICK_MISSED_IGNORED = -3,
    UNPICK_MISSED_BOUND_REACHED = -4,
    UNPICK_MISSED_TIMED_OUT = -5,
    UNPICK_MISSED_CONTRADICTION = -6
};

#ifndef UNPICK_BREAKPOINTS

/* A call that is always inlined: a bare 0 would be a statement without effect, which compilers warn about. */
static inline __attribute__((always_inline, unused)) int unpick_off_(void) { return UNPICK_OFF; }

#define UNPICK_TRIGGER(...) unpick_off_()
#define UNPICK_STEP(...) unpick_off_()
#define UNPICK_DONE(name) ((void)0)
#define UNPICK_HOLDING(lock) ((void)0)
#define UNPICK_RELEASED(lock) ((void)0)
#define UNPICK_REPORT() ((void)0)
#define UNPICK_WAITING(name) unpick_off_()

#else

/* Only helps if nothing was included before. Where the standard is not strict it would take functions away. */
#if defined __STRICT_ANSI__ && !defined _GNU_SOURCE && !defined _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if !defined CLOCK_MONOTONIC || (defined __GLIBC__ && !defined __USE_XOPEN2K)
#error "unpick.h needs POSIX: include it before all other headers, or compile with -std=gnu99, -std=gnu11 or -D_GNU_SOURCE"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Where the program is built with ThreadSanitizer's hooks, as `unpick cc` does, they are for the program, not for this. */
#define UNPICK_FN_ static __attribute__((unused, no_sanitize_thread))

enum { UNPICK_MOST_ROLES_ = 32, UNPICK_MOST_JUDGED_ = 64, UNPICK_MOST_LOCKS_ = 16, UNPICK_STATE_BYTES_ = 64 };
enum { UNPICK_LONGEST_PAUSE_MS_ = 600000, UNPICK_DEFAULT_PAUSE_MS_ = 100, UNPICK_ORDER_DELAY_MS_ = 10 };

enum unpick_kind_ {
    UNPICK_CONFLICT_,
    UNPICK_DEADLOCK_,
    UNPICK_ATOMICITY_,
    UNPICK_OWN_,
    UNPICK_RENDEZVOUS_
};

typedef unsigned long long unpick_count_;
typedef int (*unpick_fits_)(const void *mine, const void *theirs);

/* One arrival, with all that was said about it. */
struct unpick_ask_ {
    const char *name;
    enum unpick_kind_ kind;
    int role, roles;
    const void *one, *other; /* the object, or the lock held and the one wanted */
    const void *state;
    size_t state_size;
    unpick_fits_ fits;
    int condition_holds, lock_is_held, says_when_done;
    unpick_count_ ignore_first;
    int has_bound;
    unpick_count_ bound;
    long long pause_ms;
    const char *file;
    int line;
};

enum unpick_stage_ { UNPICK_CALLED_, UNPICK_IN_STEP_, UNPICK_STEP_DONE_ };

/* A thread that has met others; lives until all of the meeting have gone on. */
struct unpick_member_ {
    unpick_count_ ticket;
    const void *thread;
    int says_when_done;
    enum unpick_stage_ stage;
};

struct unpick_meeting_ {
    struct unpick_meeting_ *next;
    int size, is_open; /* nobody goes on before it is open */
    struct unpick_member_ members[UNPICK_MOST_ROLES_];
};

/* A thread that waits, on its own stack. */
struct unpick_waiter_ {
    struct unpick_waiter_ *next;
    const struct unpick_ask_ *ask;
    const void *thread;
    unpick_count_ ticket;
    unsigned char state[UNPICK_STATE_BYTES_];
    int friends; /* those of the tickets judged that fit */
    unpick_count_ friend_tickets[UNPICK_MOST_JUDGED_];
    int dismissed;
    struct unpick_meeting_ *meeting;
};

struct unpick_half_ {
    unpick_count_ arrivals, skipped, ignored, timeouts, patient;
    const char *file;
    int line;
};

struct unpick_entry_ {
    struct unpick_entry_ *next; /* by name */
    char *name;
    enum unpick_kind_ kind;
    int roles;
    struct unpick_half_ halves[UNPICK_MOST_ROLES_];
    unpick_count_ hits, out_of_order, next_ticket;
    int has_bound, has_complained;
    unpick_count_ bound;
    struct unpick_waiter_ *waiting; /* oldest first */
    struct unpick_meeting_ *meetings;
};

struct unpick_blamed_;

struct unpick_process_ {
    pthread_once_t once;
    pthread_mutex_t lock;
    pthread_cond_t bell;
    struct unpick_entry_ *entries;
    int is_off, is_child;
    char *only; /* NULL: all are on */
    long long pause_ms; /* -1: as the program says */
    const char *report;
    unsigned file_number;
    struct unpick_blamed_ *blamed;
};

/* A breakpoint that was complained about although it has no entry. */
struct unpick_blamed_ {
    struct unpick_blamed_ *next;
    char name[1]; /* and more */
};

struct unpick_thread_ {
    int locks;
    const char *held[UNPICK_MOST_LOCKS_];
};

/* One for all files of a program. The number changes with the layout: files with different ones do not meet. */
__attribute__((weak, visibility("default"))) struct unpick_process_ unpick_process_v1_;
__attribute__((weak, visibility("default"))) __thread struct unpick_thread_ unpick_thread_v1_;

#define unpick_p_ (&unpick_process_v1_)

/* ---- text ---- */

struct unpick_text_ {
    char *bytes;
    size_t length, room;
};

UNPICK_FN_ __attribute__((format(printf, 2, 3))) void unpick_write_(struct unpick_text_ *text, const char *form, ...) {
    for (;;) {
        size_t left = text->room - text->length;
        va_list arguments;
        int needed;
        va_start(arguments, form);
        needed = vsnprintf(text->bytes ? text->bytes + text->length : NULL, left, form, arguments);
        va_end(arguments);
        if (needed < 0)
            return;
        if ((size_t)needed < left) {
            text->length += (size_t)needed;
            return;
        }
        {
            size_t room = (text->length + (size_t)needed + 1) * 2;
            char *bytes = (char *)realloc(text->bytes, room);
            if (!bytes)
                return;
            text->bytes = bytes;
            text->room = room;
        }
    }
}

UNPICK_FN_ void unpick_say_(struct unpick_text_ *text) {
    if (text->bytes)
        fputs(text->bytes, stderr);
    free(text->bytes);
    memset(text, 0, sizeof *text);
}

UNPICK_FN_ const char *unpick_kind_word_(enum unpick_kind_ kind) {
    static const char *const words[] = {"conflict", "deadlock", "atomicity", "own", "rendezvous"};
    return words[kind];
}

UNPICK_FN_ const char *unpick_role_word_(const struct unpick_entry_ *entry, int role, char into[32]) {
    if (entry->roles == 2 && entry->kind == UNPICK_ATOMICITY_)
        return role == 0 ? "intruder" : "gap";
    if (entry->roles == 2)
        return role == 0 ? "first" : "second";
    snprintf(into, 32, "role %d", role);
    return into;
}

/* ---- the report ---- */

UNPICK_FN_ void unpick_describe_half_(struct unpick_text_ *text, const struct unpick_half_ *half) {
    if (half->arrivals == 0) {
        unpick_write_(text, "not reached\n");
        return;
    }
    if (half->arrivals == 1)
        unpick_write_(text, "reached once");
    else
        unpick_write_(text, "reached %llu times", half->arrivals);
    if (half->timeouts)
        unpick_write_(text, ", %llu timed out", half->timeouts);
    if (half->ignored)
        unpick_write_(text, ", %llu ignored", half->ignored);
    if (half->skipped)
        unpick_write_(text, ", %llu skipped", half->skipped);
    unpick_write_(text, ", at %s:%d\n", half->file, half->line);
}

/* Why a breakpoint was never hit, and what to do. */
UNPICK_FN_ void unpick_diagnose_(struct unpick_text_ *text, const struct unpick_entry_ *entry) {
    char word[32];
    int role, nobody_waits = 1;
    for (role = 0; role < entry->roles; role++)
        if (entry->halves[role].arrivals == 0) {
            unpick_write_(text,
                          "  why:  no thread came to `%s`\n  next: put it into the code of the other thread, under the "
                          "same name; check that this code runs\n",
                          unpick_role_word_(entry, role, word));
            return;
        }
    for (role = 0; role < entry->roles; role++)
        if (entry->halves[role].skipped == entry->halves[role].arrivals) {
            unpick_write_(text,
                          "  why:  the condition of `%s` never held, or its lock was not held\n  next: look at `when` "
                          "and `lock_held` there\n",
                          unpick_role_word_(entry, role, word));
            return;
        }
    for (role = 0; role < entry->roles; role++)
        if (entry->halves[role].ignored + entry->halves[role].skipped == entry->halves[role].arrivals) {
            unpick_write_(text, "  why:  all arrivals at `%s` were ignored\n  next: make `ignore_first` smaller\n",
                          unpick_role_word_(entry, role, word));
            return;
        }
    for (role = 0; role < entry->roles; role++)
        nobody_waits = nobody_waits && entry->halves[role].patient == 0;
    if (nobody_waits)
        unpick_write_(text, "  why:  all pauses are zero: nobody waits, so nobody is there to be met\n  next: give one "
                            "of the places a pause\n");
    else
        unpick_write_(text, "  why:  the threads were not there at the same time, or not with the same objects\n  "
                            "next: try a longer pause: UNPICK_BREAKPOINT_PAUSE_MS=1000; check which objects are given\n");
}

UNPICK_FN_ void unpick_describe_(struct unpick_text_ *text, const struct unpick_entry_ *entry) {
    char word[32];
    int role;
    unpick_write_(text, "unpick: breakpoint `%s`: ", entry->name);
    if (entry->hits == 0)
        unpick_write_(text, "never hit");
    else if (entry->hits == 1)
        unpick_write_(text, "hit once");
    else
        unpick_write_(text, "hit %llu times", entry->hits);
    if (entry->out_of_order)
        unpick_write_(text, ", %llu out of order", entry->out_of_order);
    unpick_write_(text, "\n");
    for (role = 0; role < entry->roles; role++) {
        unpick_write_(text, "  %s: ", unpick_role_word_(entry, role, word));
        unpick_describe_half_(text, &entry->halves[role]);
    }
    if (entry->hits == 0)
        unpick_diagnose_(text, entry);
}

/* The next name of the list asked for by the environment, without blanks around it; NULL at its end. */
UNPICK_FN_ const char *unpick_next_name_(const char **list, size_t *length) {
    const char *start = *list;
    start += strspn(start, ", \t\n");
    if (!*start)
        return NULL;
    *length = strcspn(start, ",");
    *list = start + *length;
    while (*length > 0 && strchr(" \t\n", start[*length - 1]))
        --*length;
    return start;
}

UNPICK_FN_ int unpick_is_(const char *name, const char *bytes, size_t length) {
    return strlen(name) == length && memcmp(name, bytes, length) == 0;
}

UNPICK_FN_ int unpick_is_chosen_(const char *name) {
    const char *list = unpick_p_->only, *one;
    size_t length;
    if (unpick_p_->is_off)
        return 0;
    if (!list)
        return 1;
    while ((one = unpick_next_name_(&list, &length)))
        if (unpick_is_(name, one, length))
            return 1;
    return 0;
}

UNPICK_FN_ int unpick_was_reached_(const char *name, size_t length) {
    const struct unpick_entry_ *entry;
    for (entry = unpick_p_->entries; entry; entry = entry->next)
        if (unpick_is_(entry->name, name, length))
            return 1;
    return 0;
}

UNPICK_FN_ void unpick_summary_(struct unpick_text_ *text) {
    const struct unpick_entry_ *entry;
    const char *list = unpick_p_->only, *name;
    size_t length;
    for (entry = unpick_p_->entries; entry; entry = entry->next)
        unpick_describe_(text, entry);
    while (list && (name = unpick_next_name_(&list, &length)))
        if (!unpick_was_reached_(name, length))
            unpick_write_(text,
                          "unpick: breakpoint `%.*s` was not reached\n  why:   UNPICK_BREAKPOINTS asks for it, and no "
                          "thread came to a place of this name\n  next:  check the name, and that the code is built "
                          "with breakpoints\n",
                          (int)length, name);
}

UNPICK_FN_ void unpick_escape_(struct unpick_text_ *text, const char *name) {
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            unpick_write_(text, "\\%c", *name);
        else if ((unsigned char)*name < ' ')
            unpick_write_(text, "\\u%04x", (unsigned)(unsigned char)*name);
        else
            unpick_write_(text, "%c", *name);
    }
}

UNPICK_FN_ void unpick_json_(struct unpick_text_ *text) {
    const struct unpick_entry_ *entry;
    int role;
    for (entry = unpick_p_->entries; entry; entry = entry->next) {
        unpick_write_(text, "{\"breakpoint\":\"");
        unpick_escape_(text, entry->name);
        unpick_write_(text, "\",\"kind\":\"%s\",\"hits\":%llu,\"out_of_order\":%llu,\"halves\":[",
                      unpick_kind_word_(entry->kind), entry->hits, entry->out_of_order);
        for (role = 0; role < entry->roles; role++) {
            const struct unpick_half_ *half = &entry->halves[role];
            unpick_write_(text, "%s{\"arrivals\":%llu,\"timeouts\":%llu,\"ignored\":%llu,\"skipped\":%llu}",
                          role ? "," : "", half->arrivals, half->timeouts, half->ignored, half->skipped);
        }
        unpick_write_(text, "]}\n");
    }
}

/* Whole or not at all: the program may be killed at any moment. */
UNPICK_FN_ int unpick_replace_(const char *file, const char *aside, const struct unpick_text_ *text) {
    FILE *out = fopen(aside, "w");
    int is_written;
    if (!out)
        return 0;
    is_written = text->length == 0 || fwrite(text->bytes, 1, text->length, out) == text->length;
    is_written = fclose(out) == 0 && is_written;
    is_written = is_written && rename(aside, file) == 0;
    if (!is_written)
        remove(aside);
    return is_written;
}

/* Shows what was counted so far to the outside; not under the lock. A forked child has a file of its own. */
UNPICK_FN_ void unpick_publish_(void) {
    struct unpick_text_ json = {NULL, 0, 0}, file = {NULL, 0, 0}, aside = {NULL, 0, 0};
    unsigned number;
    if (!unpick_p_->report)
        return;
    pthread_mutex_lock(&unpick_p_->lock);
    unpick_json_(&json);
    number = unpick_p_->file_number++;
    pthread_mutex_unlock(&unpick_p_->lock);
    unpick_write_(&file, "%s", unpick_p_->report);
    if (unpick_p_->is_child)
        unpick_write_(&file, ".%ld", (long)getpid());
    unpick_write_(&aside, "%s.%ld-%u", unpick_p_->report, (long)getpid(), number);
    if (file.bytes && aside.bytes && !unpick_replace_(file.bytes, aside.bytes, &json))
        fprintf(stderr, "unpick: the report of breakpoints cannot be written to %s: %s\n", file.bytes, strerror(errno));
    free(json.bytes);
    free(file.bytes);
    free(aside.bytes);
}

UNPICK_FN_ void unpick_print_summary_(void) {
    struct unpick_text_ text = {NULL, 0, 0};
    pthread_mutex_lock(&unpick_p_->lock);
    unpick_summary_(&text);
    pthread_mutex_unlock(&unpick_p_->lock);
    unpick_say_(&text);
}

/* ---- the process: settings, exit, fork ---- */

UNPICK_FN_ void unpick_at_exit_(void) {
    if (unpick_p_->is_off)
        return;
    unpick_publish_();
    unpick_print_summary_();
}

UNPICK_FN_ void unpick_before_fork_(void) { pthread_mutex_lock(&unpick_p_->lock); }

UNPICK_FN_ void unpick_after_fork_(void) { pthread_mutex_unlock(&unpick_p_->lock); }

UNPICK_FN_ void unpick_make_bell_(void) {
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&unpick_p_->bell, &attributes);
    pthread_condattr_destroy(&attributes);
}

/* The others who waited and met do not exist in the child. What was counted belongs to the parent. */
UNPICK_FN_ void unpick_in_child_(void) {
    unpick_p_->is_child = 1;
    unpick_p_->entries = NULL;
    unpick_make_bell_();
    pthread_mutex_unlock(&unpick_p_->lock);
}

UNPICK_FN_ void unpick_read_choice_(void) {
    const char *text = getenv("UNPICK_BREAKPOINTS"), *list = text, *name;
    size_t length;
    if (!text)
        return;
    name = unpick_next_name_(&list, &length);
    if (!name && text[strspn(text, " \t\n")])
        fprintf(stderr, "unpick: UNPICK_BREAKPOINTS is `%s`, which is neither on nor off nor a list of names: all are on\n",
                text);
    if (!name || (unpick_is_("on", name, length) && !*list))
        return;
    unpick_p_->is_off = unpick_is_("off", name, length) && !*list;
    /* The program may change its environment later. */
    unpick_p_->only = (char *)malloc(strlen(text) + 1);
    if (unpick_p_->only)
        strcpy(unpick_p_->only, text);
}

UNPICK_FN_ void unpick_read_pause_(void) {
    const char *text = getenv("UNPICK_BREAKPOINT_PAUSE_MS"), *start;
    size_t digits;
    long long pause;
    unpick_p_->pause_ms = -1;
    if (!text)
        return;
    start = text + strspn(text, " \t\n");
    if (!*start)
        return;
    digits = strspn(start, "0123456789");
    pause = digits > 0 && digits < 18 ? strtoll(start, NULL, 10) : -1;
    if (start[digits + strspn(start + digits, " \t\n")] || pause < 0 || pause > UNPICK_LONGEST_PAUSE_MS_)
        fprintf(stderr,
                "unpick: UNPICK_BREAKPOINT_PAUSE_MS is `%s`, which is not a number of milliseconds from 0 to %d: the "
                "pauses in the program are used\n",
                text, UNPICK_LONGEST_PAUSE_MS_);
    else
        unpick_p_->pause_ms = pause;
}

UNPICK_FN_ void unpick_set_up_(void) {
    const char *report = getenv("UNPICK_BREAKPOINT_REPORT");
    char *copy = report && *report ? (char *)malloc(strlen(report) + 1) : NULL;
    if (copy)
        unpick_p_->report = strcpy(copy, report);
    pthread_mutex_init(&unpick_p_->lock, NULL);
    unpick_make_bell_();
    unpick_read_choice_();
    unpick_read_pause_();
    pthread_atfork(unpick_before_fork_, unpick_after_fork_, unpick_in_child_);
    atexit(unpick_at_exit_);
}

/* ---- time ---- */

UNPICK_FN_ long long unpick_at_most_(long long value, long long limit) { return value < limit ? value : limit; }

UNPICK_FN_ struct timespec unpick_after_(long long ms) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += (time_t)(ms / 1000);
    time.tv_nsec += (long)(ms % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

UNPICK_FN_ int unpick_is_over_(const struct timespec *deadline) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec > deadline->tv_sec || (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/* ---- the board: who waits, who has met, whose turn it is; all under the lock ---- */

UNPICK_FN_ struct unpick_entry_ *unpick_find_(const char *name) {
    struct unpick_entry_ *entry = unpick_p_->entries;
    while (entry && strcmp(entry->name, name) != 0)
        entry = entry->next;
    return entry;
}

UNPICK_FN_ struct unpick_entry_ *unpick_add_(const struct unpick_ask_ *ask) {
    struct unpick_entry_ **at = &unpick_p_->entries;
    struct unpick_entry_ *entry = (struct unpick_entry_ *)calloc(1, sizeof *entry);
    char *name = (char *)malloc(strlen(ask->name) + 1);
    if (!entry || !name) {
        free(entry);
        free(name);
        return NULL;
    }
    entry->name = strcpy(name, ask->name);
    entry->kind = ask->kind;
    entry->roles = ask->roles;
    entry->next_ticket = 1;
    while (*at && strcmp((*at)->name, ask->name) < 0)
        at = &(*at)->next;
    entry->next = *at;
    *at = entry;
    return entry;
}

UNPICK_FN_ int unpick_is_bound_reached_(const struct unpick_entry_ *entry) {
    return entry->has_bound && entry->hits >= entry->bound;
}

UNPICK_FN_ void unpick_lower_bound_(struct unpick_entry_ *entry, const struct unpick_ask_ *ask) {
    if (ask->has_bound && (!entry->has_bound || ask->bound < entry->bound)) {
        entry->has_bound = 1;
        entry->bound = ask->bound;
    }
}

/* Counts an arrival. UNPICK_HIT if it may take part. */
UNPICK_FN_ int unpick_admit_(struct unpick_entry_ *entry, const struct unpick_ask_ *ask) {
    struct unpick_half_ *half = &entry->halves[ask->role];
    unpick_lower_bound_(entry, ask);
    half->arrivals++;
    if (!half->file) {
        half->file = ask->file;
        half->line = ask->line;
    }
    if (!ask->condition_holds || !ask->lock_is_held) {
        half->skipped++;
        return ask->condition_holds ? UNPICK_MISSED_LOCK_NOT_HELD : UNPICK_MISSED_CONDITION;
    }
    if (half->arrivals - half->skipped <= ask->ignore_first) {
        half->ignored++;
        return UNPICK_MISSED_IGNORED;
    }
    half->patient += ask->pause_ms > 0;
    return unpick_is_bound_reached_(entry) ? UNPICK_MISSED_BOUND_REACHED : UNPICK_HIT;
}

UNPICK_FN_ int unpick_locks_fit_(const struct unpick_ask_ *one, const struct unpick_ask_ *other, int roles) {
    return ((one->role + 1) % roles != other->role || one->other == other->one) &&
           ((other->role + 1) % roles != one->role || other->other == one->one);
}

/* May two who wait meet? Of own conditions the later one knows. */
UNPICK_FN_ int unpick_agree_(const struct unpick_waiter_ *one, const struct unpick_waiter_ *other, int roles) {
    const struct unpick_waiter_ *later = one->ticket > other->ticket ? one : other;
    const struct unpick_waiter_ *earlier = one->ticket > other->ticket ? other : one;
    int i;
    switch (one->ask->kind) {
    case UNPICK_RENDEZVOUS_:
        return 1;
    case UNPICK_CONFLICT_:
    case UNPICK_ATOMICITY_:
        return one->ask->one == other->ask->one;
    case UNPICK_DEADLOCK_:
        return unpick_locks_fit_(one->ask, other->ask, roles);
    case UNPICK_OWN_:
        for (i = 0; i < later->friends; i++)
            if (later->friend_tickets[i] == earlier->ticket)
                return 1;
    }
    return 0;
}

/* Fills this role and those after it with threads that all agree, the oldest first. */
UNPICK_FN_ int unpick_choose_(struct unpick_entry_ *entry, int role, struct unpick_waiter_ *newcomer,
                              struct unpick_waiter_ **chosen) {
    struct unpick_waiter_ *waiter;
    int other;
    if (role == entry->roles)
        return 1;
    if (role == newcomer->ask->role) {
        chosen[role] = newcomer;
        return unpick_choose_(entry, role + 1, newcomer, chosen);
    }
    for (waiter = entry->waiting; waiter; waiter = waiter->next) {
        int fits = waiter->ask->role == role && unpick_agree_(waiter, newcomer, entry->roles);
        for (other = 0; fits && other < role; other++)
            fits = unpick_agree_(waiter, chosen[other], entry->roles);
        chosen[role] = waiter;
        if (fits && unpick_choose_(entry, role + 1, newcomer, chosen))
            return 1;
    }
    return 0;
}

UNPICK_FN_ int unpick_remove_waiter_(struct unpick_entry_ *entry, const struct unpick_waiter_ *waiter) {
    struct unpick_waiter_ **at = &entry->waiting;
    while (*at && *at != waiter)
        at = &(*at)->next;
    if (!*at)
        return 0;
    *at = waiter->next;
    return 1;
}

UNPICK_FN_ void unpick_dismiss_waiting_(struct unpick_entry_ *entry) {
    for (; entry->waiting; entry->waiting = entry->waiting->next)
        entry->waiting->dismissed = 1;
}

UNPICK_FN_ void unpick_call_together_(struct unpick_entry_ *entry, struct unpick_waiter_ **chosen) {
    struct unpick_meeting_ *meeting = (struct unpick_meeting_ *)calloc(1, sizeof *meeting);
    int role;
    if (!meeting)
        return;
    meeting->size = entry->roles;
    for (role = 0; role < entry->roles; role++) {
        meeting->members[role].ticket = chosen[role]->ticket;
        meeting->members[role].thread = chosen[role]->thread;
        meeting->members[role].says_when_done = chosen[role]->ask->says_when_done;
        chosen[role]->meeting = meeting;
        unpick_remove_waiter_(entry, chosen[role]);
    }
    meeting->next = entry->meetings;
    entry->meetings = meeting;
    entry->hits++;
    if (unpick_is_bound_reached_(entry))
        unpick_dismiss_waiting_(entry);
}

/* The thread takes its place, behind those who wait already; or makes a meeting of it. */
UNPICK_FN_ void unpick_take_place_(struct unpick_entry_ *entry, struct unpick_waiter_ *waiter) {
    struct unpick_waiter_ *chosen[UNPICK_MOST_ROLES_];
    struct unpick_waiter_ **end = &entry->waiting;
    int has_met = unpick_choose_(entry, 0, waiter, chosen);
    while (*end)
        end = &(*end)->next;
    *end = waiter;
    if (has_met)
        unpick_call_together_(entry, chosen);
}

/* A meeting is forgotten when everybody has gone on. */
UNPICK_FN_ void unpick_set_stage_(struct unpick_entry_ *entry, struct unpick_meeting_ *meeting, int role,
                                  enum unpick_stage_ stage) {
    struct unpick_meeting_ **at = &entry->meetings;
    int i;
    meeting->members[role].stage = stage;
    for (i = 0; i < meeting->size; i++)
        if (meeting->members[i].stage == UNPICK_CALLED_)
            return;
    while (*at != meeting)
        at = &(*at)->next;
    *at = meeting->next;
    free(meeting);
}

/* ---- arrival ---- */

UNPICK_FN_ void unpick_wait_(const struct timespec *deadline) {
    pthread_cond_timedwait(&unpick_p_->bell, &unpick_p_->lock, deadline);
}

/* UNPICK_HIT when the thread has met the others. */
UNPICK_FN_ int unpick_wait_for_partners_(struct unpick_entry_ *entry, struct unpick_waiter_ *waiter) {
    struct timespec deadline = unpick_after_(waiter->ask->pause_ms);
    while (!waiter->meeting) {
        if (waiter->dismissed)
            return UNPICK_MISSED_BOUND_REACHED;
        if (unpick_is_over_(&deadline)) {
            unpick_remove_waiter_(entry, waiter);
            entry->halves[waiter->ask->role].timeouts++;
            return UNPICK_MISSED_TIMED_OUT;
        }
        unpick_wait_(&deadline);
    }
    return UNPICK_HIT;
}

/* How the order was kept. Whichever thread of a deadlock goes first, both will wait for ever. */
UNPICK_FN_ int unpick_wait_for_turn_(struct unpick_waiter_ *waiter) {
    const struct unpick_ask_ *ask = waiter->ask;
    struct timespec deadline = unpick_after_(ask->pause_ms), delay;
    const struct unpick_member_ *before;
    while (!waiter->meeting->is_open) {
        if (unpick_is_over_(&deadline))
            return UNPICK_HIT_OUT_OF_ORDER;
        unpick_wait_(&deadline);
    }
    if (ask->role == 0 || ask->kind == UNPICK_DEADLOCK_)
        return UNPICK_HIT;
    before = &waiter->meeting->members[ask->role - 1];
    while (before->stage != UNPICK_STEP_DONE_) {
        if (unpick_is_over_(&deadline))
            return UNPICK_HIT_OUT_OF_ORDER;
        if (before->stage == UNPICK_IN_STEP_ && !before->says_when_done) {
            delay = unpick_after_(unpick_at_most_(ask->pause_ms, UNPICK_ORDER_DELAY_MS_));
            while (!unpick_is_over_(&delay))
                unpick_wait_(&delay);
            return UNPICK_HIT_DELAYED;
        }
        unpick_wait_(&deadline);
    }
    return UNPICK_HIT;
}

/* Asks the own condition about everybody who waits, without the lock: it is the user's code, and may take locks that
 * a thread on its way to our lock holds. */
UNPICK_FN_ void unpick_judge_(struct unpick_entry_ *entry, struct unpick_waiter_ *newcomer) {
    unpick_count_ judged[UNPICK_MOST_JUDGED_];
    unsigned char theirs[UNPICK_STATE_BYTES_];
    int known = 0, i;
    while (newcomer->ask->kind == UNPICK_OWN_ && known < UNPICK_MOST_JUDGED_) {
        struct unpick_waiter_ *waiter = entry->waiting;
        int fits;
        for (; waiter; waiter = waiter->next) {
            int is_known = waiter->ask->role == newcomer->ask->role;
            for (i = 0; i < known && !is_known; i++)
                is_known = judged[i] == waiter->ticket;
            if (!is_known)
                break;
        }
        if (!waiter)
            return;
        fits = waiter->ask->state_size == newcomer->ask->state_size;
        judged[known] = waiter->ticket;
        memcpy(theirs, waiter->state, sizeof theirs);
        pthread_mutex_unlock(&unpick_p_->lock);
        fits = fits && newcomer->ask->fits(newcomer->state, theirs);
        pthread_mutex_lock(&unpick_p_->lock);
        if (fits)
            newcomer->friend_tickets[newcomer->friends++] = judged[known];
        known++;
    }
}

/* Shows what was counted before any step, because it may be the end of the program; and not between two steps, where it
 * would take time. Each time at first, then ever more rarely. */
UNPICK_FN_ void unpick_open_(const struct unpick_entry_ *entry, struct unpick_waiter_ *waiter) {
    if ((entry->hits & (entry->hits - 1)) == 0) {
        pthread_mutex_unlock(&unpick_p_->lock);
        unpick_publish_();
        pthread_mutex_lock(&unpick_p_->lock);
    }
    waiter->meeting->is_open = 1;
    pthread_cond_broadcast(&unpick_p_->bell);
}

UNPICK_FN_ int unpick_meet_(struct unpick_entry_ *entry, struct unpick_waiter_ *waiter) {
    int outcome = unpick_wait_for_partners_(entry, waiter);
    if (outcome != UNPICK_HIT)
        return outcome;
    outcome = unpick_wait_for_turn_(waiter);
    entry->out_of_order += outcome == UNPICK_HIT_OUT_OF_ORDER;
    unpick_set_stage_(entry, waiter->meeting, waiter->ask->role, UNPICK_IN_STEP_);
    pthread_cond_broadcast(&unpick_p_->bell);
    return outcome;
}

UNPICK_FN_ int unpick_contradiction_(struct unpick_entry_ *entry, const struct unpick_ask_ *ask,
                                     struct unpick_text_ *complaint) {
    const struct unpick_half_ *earlier = entry->halves;
    if (entry->kind == ask->kind && entry->roles == ask->roles)
        return 0;
    while (earlier + 1 < entry->halves + entry->roles && !earlier->file)
        earlier++;
    if (!entry->has_complained)
        unpick_write_(complaint,
                      "unpick: breakpoint `%s` contradicts itself: %s of %d here, %s of %d before\n  where: %s:%d\n  why:  "
                      " all places of one name are one breakpoint; it was first reached at %s:%d\n  next:  give one of "
                      "them another name, or make them alike\n",
                      ask->name, unpick_kind_word_(ask->kind), ask->roles, unpick_kind_word_(entry->kind), entry->roles,
                      ask->file, ask->line, earlier->file, earlier->line);
    entry->has_complained = 1;
    return 1;
}

UNPICK_FN_ int unpick_arrive_inside_(struct unpick_waiter_ *waiter, struct unpick_text_ *complaint) {
    const struct unpick_ask_ *ask = waiter->ask;
    struct unpick_entry_ *entry = unpick_find_(ask->name);
    int outcome;
    if (!entry)
        entry = unpick_add_(ask);
    if (!entry)
        return UNPICK_OFF;
    if (unpick_contradiction_(entry, ask, complaint))
        return UNPICK_MISSED_CONTRADICTION;
    outcome = unpick_admit_(entry, ask);
    if (outcome != UNPICK_HIT)
        return outcome;
    unpick_judge_(entry, waiter);
    if (unpick_is_bound_reached_(entry))
        return UNPICK_MISSED_BOUND_REACHED;
    waiter->ticket = entry->next_ticket++;
    unpick_take_place_(entry, waiter);
    if (waiter->meeting)
        unpick_open_(entry, waiter);
    return unpick_meet_(entry, waiter);
}

UNPICK_FN_ int unpick_is_first_blame_(const char *name) {
    struct unpick_blamed_ *blamed = unpick_p_->blamed;
    for (; blamed; blamed = blamed->next)
        if (strcmp(blamed->name, name) == 0)
            return 0;
    blamed = (struct unpick_blamed_ *)malloc(sizeof *blamed + strlen(name));
    if (!blamed)
        return 1;
    memcpy(blamed->name, name, strlen(name) + 1);
    blamed->next = unpick_p_->blamed;
    unpick_p_->blamed = blamed;
    return 1;
}

enum { UNPICK_NO_ROLE_ = -1 };

/* Does what was said make sense by itself? */
UNPICK_FN_ int unpick_is_possible_(const struct unpick_ask_ *ask, struct unpick_text_ *complaint) {
    if (ask->role == UNPICK_NO_ROLE_ || (ask->kind == UNPICK_OWN_ && !ask->fits)) {
        if (unpick_is_first_blame_(ask->name))
            unpick_write_(complaint,
                          "unpick: breakpoint `%s` cannot be used like this: %s\n  where: %s:%d\n  why:   who meets whom "
                          "cannot be known\n  next:  %s\n",
                          ask->name, ask->role == UNPICK_NO_ROLE_ ? "its half is not said" : "its condition is NULL",
                          ask->file, ask->line,
                          ask->role == UNPICK_NO_ROLE_ ? "add first(), second(), gap(), intruder() or role(k, n)"
                                                       : "give a function: int fits(const void *mine, const void *theirs)");
        return 0;
    }
    if (ask->roles < 2 || ask->role < 0 || ask->role >= ask->roles || ask->roles > UNPICK_MOST_ROLES_) {
        if (unpick_is_first_blame_(ask->name))
            unpick_write_(complaint,
                          "unpick: breakpoint `%s` cannot be used like this: role %d of %d\n  where: %s:%d\n  why:   roles "
                          "count from 0, and it takes two threads to meet%s\n  next:  use a role below the number of "
                          "roles, which is at least 2\n",
                          ask->name, ask->role, ask->roles, ask->file, ask->line,
                          ask->roles > UNPICK_MOST_ROLES_ ? "; at most 32 can in C" : "");
        return 0;
    }
    if (ask->state_size > UNPICK_STATE_BYTES_) {
        if (unpick_is_first_blame_(ask->name))
            unpick_write_(complaint,
                          "unpick: breakpoint `%s` cannot be used like this: a state of %lu bytes\n  where: %s:%d\n  why:   "
                          "states are copied, and at most %d bytes long\n  next:  put what `fits` looks at into a "
                          "smaller struct, or a pointer to it\n",
                          ask->name, (unsigned long)ask->state_size, ask->file, ask->line, UNPICK_STATE_BYTES_);
        return 0;
    }
    return 1;
}

UNPICK_FN_ long long unpick_pause_of_(const struct unpick_ask_ *ask) {
    long long pause = unpick_p_->pause_ms >= 0 ? unpick_p_->pause_ms : ask->pause_ms;
    return pause < 0 ? 0 : unpick_at_most_(pause, UNPICK_LONGEST_PAUSE_MS_);
}

UNPICK_FN_ int unpick_arrive_(struct unpick_ask_ *ask) {
    struct unpick_waiter_ waiter;
    struct unpick_text_ complaint = {NULL, 0, 0};
    int outcome = UNPICK_MISSED_CONTRADICTION, cancel_state;
    pthread_once(&unpick_p_->once, unpick_set_up_);
    if (!unpick_is_chosen_(ask->name))
        return UNPICK_OFF;
    memset(&waiter, 0, sizeof waiter);
    waiter.ask = ask;
    waiter.thread = &unpick_thread_v1_;
    ask->pause_ms = unpick_pause_of_(ask);
    /* A thread that is cancelled while it waits would leave the lock locked. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    pthread_mutex_lock(&unpick_p_->lock);
    if (unpick_is_possible_(ask, &complaint)) {
        if (ask->state_size)
            memcpy(waiter.state, ask->state, ask->state_size);
        outcome = unpick_arrive_inside_(&waiter, &complaint);
    }
    pthread_mutex_unlock(&unpick_p_->lock);
    pthread_setcancelstate(cancel_state, NULL);
    unpick_say_(&complaint);
    return outcome;
}

/* The current thread's step at this breakpoint is done. */
UNPICK_FN_ void unpick_done_(const char *name) {
    struct unpick_entry_ *entry;
    struct unpick_meeting_ *meeting, *next;
    pthread_once(&unpick_p_->once, unpick_set_up_);
    pthread_mutex_lock(&unpick_p_->lock);
    entry = unpick_find_(name);
    for (meeting = entry ? entry->meetings : NULL; meeting; meeting = next) {
        int role;
        next = meeting->next;
        for (role = 0; role < meeting->size; role++) {
            struct unpick_member_ *member = &meeting->members[role];
            if (member->thread == &unpick_thread_v1_ && member->stage == UNPICK_IN_STEP_ && member->says_when_done) {
                unpick_set_stage_(entry, meeting, role, UNPICK_STEP_DONE_);
                break;
            }
        }
    }
    pthread_cond_broadcast(&unpick_p_->bell);
    pthread_mutex_unlock(&unpick_p_->lock);
}

UNPICK_FN_ int unpick_waiting_(const char *name) {
    const struct unpick_waiter_ *waiter;
    const struct unpick_entry_ *entry;
    int count = 0;
    pthread_once(&unpick_p_->once, unpick_set_up_);
    pthread_mutex_lock(&unpick_p_->lock);
    entry = unpick_find_(name);
    for (waiter = entry ? entry->waiting : NULL; waiter; waiter = waiter->next)
        count++;
    pthread_mutex_unlock(&unpick_p_->lock);
    return count;
}

UNPICK_FN_ void unpick_report_(void) {
    pthread_once(&unpick_p_->once, unpick_set_up_);
    unpick_print_summary_();
}

/* ---- locks this thread says it holds ---- */

UNPICK_FN_ void unpick_holding_(const char *lock) {
    struct unpick_thread_ *own = &unpick_thread_v1_;
    if (own->locks < UNPICK_MOST_LOCKS_)
        own->held[own->locks] = lock;
    own->locks++;
    if (own->locks == UNPICK_MOST_LOCKS_ + 1)
        fprintf(stderr, "unpick: a thread says that it holds more than %d locks: `%s` and those after it do not count\n",
                UNPICK_MOST_LOCKS_, lock);
}

UNPICK_FN_ int unpick_place_of_lock_(const char *lock) {
    const struct unpick_thread_ *own = &unpick_thread_v1_;
    int at = own->locks < UNPICK_MOST_LOCKS_ ? own->locks : UNPICK_MOST_LOCKS_;
    while (--at >= 0 && strcmp(own->held[at], lock) != 0) {
    }
    return at;
}

UNPICK_FN_ void unpick_released_(const char *lock) {
    struct unpick_thread_ *own = &unpick_thread_v1_;
    int at = unpick_place_of_lock_(lock);
    if (own->locks > UNPICK_MOST_LOCKS_)
        own->locks--;
    else if (at >= 0) {
        memmove(own->held + at, own->held + at + 1, (size_t)(own->locks - at - 1) * sizeof *own->held);
        own->locks--;
    }
}

/* ---- what the macros set ---- */

UNPICK_FN_ void unpick_begin_(struct unpick_ask_ *ask, int says_when_done, const char *file, int line) {
    memset(ask, 0, sizeof *ask);
    ask->name = "";
    ask->roles = 2;
    ask->role = UNPICK_NO_ROLE_;
    ask->condition_holds = ask->lock_is_held = 1;
    ask->pause_ms = UNPICK_DEFAULT_PAUSE_MS_;
    ask->says_when_done = says_when_done;
    ask->file = file;
    ask->line = line;
}

UNPICK_FN_ void unpick_for_(struct unpick_ask_ *ask, enum unpick_kind_ kind, const char *name, const volatile void *one,
                            const volatile void *other) {
    ask->kind = kind;
    ask->name = name ? name : "";
    ask->one = (const void *)one;
    ask->other = (const void *)other;
}

UNPICK_FN_ void unpick_own_(struct unpick_ask_ *ask, const char *name, const void *state, size_t size, unpick_fits_ fits) {
    unpick_for_(ask, UNPICK_OWN_, name, NULL, NULL);
    ask->state = state;
    ask->state_size = size;
    ask->fits = fits;
}

UNPICK_FN_ void unpick_in_role_(struct unpick_ask_ *ask, int role, int roles) {
    ask->role = role;
    ask->roles = roles;
}

UNPICK_FN_ void unpick_bound_(struct unpick_ask_ *ask, unpick_count_ bound) {
    ask->has_bound = 1;
    ask->bound = bound;
}

#ifdef __cplusplus
}
#endif

#define UNPICK_SET_conflict(name, object) unpick_for_(&unpick_ask_, UNPICK_CONFLICT_, name, object, NULL);
#define UNPICK_SET_deadlock(name, held, wanted) unpick_for_(&unpick_ask_, UNPICK_DEADLOCK_, name, held, wanted);
#define UNPICK_SET_atomicity(name, object) unpick_for_(&unpick_ask_, UNPICK_ATOMICITY_, name, object, NULL);
#define UNPICK_SET_own(name, state, fits) unpick_own_(&unpick_ask_, name, state, sizeof *(state), fits);
#define UNPICK_SET_rendezvous(name) unpick_for_(&unpick_ask_, UNPICK_RENDEZVOUS_, name, NULL, NULL);
#define UNPICK_SET_first() unpick_in_role_(&unpick_ask_, 0, 2);
#define UNPICK_SET_second() unpick_in_role_(&unpick_ask_, 1, 2);
#define UNPICK_SET_role(k, n) unpick_in_role_(&unpick_ask_, k, n);
#define UNPICK_SET_intruder() unpick_in_role_(&unpick_ask_, 0, 2);
#define UNPICK_SET_gap() unpick_in_role_(&unpick_ask_, 1, 2);
#define UNPICK_SET_pause_ms(ms) unpick_ask_.pause_ms = (ms);
#define UNPICK_SET_ignore_first(n) unpick_ask_.ignore_first = (n);
#define UNPICK_SET_bound(n) unpick_bound_(&unpick_ask_, n);
#define UNPICK_SET_when(condition) unpick_ask_.condition_holds = unpick_ask_.condition_holds && (condition);
#define UNPICK_SET_lock_held(lock) unpick_ask_.lock_is_held = unpick_ask_.lock_is_held && unpick_place_of_lock_(lock) >= 0;

#define UNPICK_COUNT_AT_(a, b, c, d, e, f, g, h, count, ...) count
#define UNPICK_COUNT_(...) UNPICK_COUNT_AT_(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define UNPICK_JOIN_NOW_(a, b) a##b
#define UNPICK_JOIN_(a, b) UNPICK_JOIN_NOW_(a, b)
#define UNPICK_EACH_1(a) UNPICK_SET_##a
#define UNPICK_EACH_2(a, ...) UNPICK_SET_##a UNPICK_EACH_1(__VA_ARGS__)
#define UNPICK_EACH_3(a, ...) UNPICK_SET_##a UNPICK_EACH_2(__VA_ARGS__)
#define UNPICK_EACH_4(a, ...) UNPICK_SET_##a UNPICK_EACH_3(__VA_ARGS__)
#define UNPICK_EACH_5(a, ...) UNPICK_SET_##a UNPICK_EACH_4(__VA_ARGS__)
#define UNPICK_EACH_6(a, ...) UNPICK_SET_##a UNPICK_EACH_5(__VA_ARGS__)
#define UNPICK_EACH_7(a, ...) UNPICK_SET_##a UNPICK_EACH_6(__VA_ARGS__)
#define UNPICK_EACH_8(a, ...) UNPICK_SET_##a UNPICK_EACH_7(__VA_ARGS__)

#define UNPICK_ARRIVE_(says_when_done, ...)                                                                                \
    __extension__({                                                                                                      \
        struct unpick_ask_ unpick_ask_;                                                                                  \
        unpick_begin_(&unpick_ask_, says_when_done, __FILE__, __LINE__);                                                   \
        UNPICK_JOIN_(UNPICK_EACH_, UNPICK_COUNT_(__VA_ARGS__))(__VA_ARGS__) unpick_arrive_(&unpick_ask_);                 \
    })

#define UNPICK_TRIGGER(...) UNPICK_ARRIVE_(0, __VA_ARGS__)
#define UNPICK_STEP(...) UNPICK_ARRIVE_(1, __VA_ARGS__)
#define UNPICK_DONE(name) unpick_done_(name)
#define UNPICK_HOLDING(lock) unpick_holding_(lock)
#define UNPICK_RELEASED(lock) unpick_released_(lock)
#define UNPICK_REPORT() unpick_report_()
#define UNPICK_WAITING(name) unpick_waiting_(name)

#endif /* UNPICK_BREAKPOINTS */
#endif /* UNPICK_H */
