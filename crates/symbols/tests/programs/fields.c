/* Accesses of all shapes. NOTE says where an expression is, so that a wrong name is noticed. */
#include <stdlib.h>
#include <string.h>

void note(const char *expression, const volatile void *address);
#define NOTE(x) note(#x, &(x))

struct Limit { int min; int max; };
struct Config {
    int mode;
    struct Limit limits[4];
    struct Config *next;
    unsigned flag_a : 3;
    unsigned flag_b : 5;
    long big[2];
    int *data;
    struct Config **rows;
};
struct Config config;
int counter;
int table[10];
int *cursor;
int sink;

#define BUMP(p) ((p)->mode++)
#define MODE_OF(p) ((p)->mode)

__attribute__((noinline)) static int get(struct Config *c) {
    NOTE(c->mode);
    return c->mode;
}

__attribute__((noinline)) static void set(struct Config *c, int i) {
    NOTE(c->mode);
    c->mode = 1;
    c->mode += 2;
    c->mode++;
    ++c->mode;
    if (i) ++c->mode;
    NOTE(c->limits[i & 3].max);
    c->limits[i & 3].max = i;
    if (i) c->limits[i & 3].max = i; else c->limits[i & 3].max = 0;
    NOTE(c->next);
    c->next = &config;
    NOTE(c->next->mode);
    c->next->mode = 3;
    NOTE(c->next->limits[1].max);
    c->next->limits[1].max -= 4;
    NOTE(c->big[1]);
    NOTE(c->big[0]);
    c->big[1] = c->big[0];
    NOTE(c->data);
    c->data = &c->mode;
    NOTE(*c->data);
    if (i) *c->data = 4;
    *c->data += 4;
    NOTE(c->limits[1].max);
    c->
        limits[1] /* a comment */
        .max = c // another
        ->mode;
    NOTE(config.mode);
    c->mode = config.mode = 4;
    c->flag_a = 2;
    c->flag_b++;
    BUMP(c);
    NOTE(c->rows);
    NOTE(c->rows[0]);
    NOTE(c->rows[0]->mode);
    c->rows[0]->mode = i;
}

__attribute__((noinline)) static int use(struct Config *c, int *q, struct Config **pp, int i) {
    int x, *r;
    NOTE(c->mode); NOTE(c->limits[i & 3].max); NOTE(c->limits[0].min); NOTE(c->limits[0].max); NOTE(c->big[0]);
    NOTE(c->limits[1].max); NOTE(c->big[counter & 1]); NOTE(c->data); NOTE(c->next); NOTE(c->next->mode);
    NOTE(*q); NOTE(q[1]); NOTE(q[i & 1]); NOTE(*pp); NOTE((*pp)->mode); NOTE(pp[0]); NOTE(pp[0]->mode);
    NOTE(c->next->next); NOTE(c->next->next->mode); NOTE(counter); NOTE(c->data[i & 1]);
    x = c->mode;
    x += c->limits[i & 3].max + c->limits[0].min;
    long n = c->big[0];
    r = c->data;
    NOTE(*r);
    x += c->data[i & 1] + *r;
    x += c->next->next->mode;
    if (c->mode == 3 && config.mode) x++;
    x = c->mode ? c->limits[0].max : c->limits[1].max;
    x += (int)c->big[counter & 1] + !c->mode - -c->limits[0].max;
    x += *q + q[1] * q[i & 1];
    x += (*pp)->mode + pp[0]->mode;
    x += MODE_OF(c);
    while (c->mode < 3) c->mode++;
    for (int k = 0; k < c->next->mode; k++) x += k;
    q[i & 1] = q[1] = x;
    return x + (int)n;
}

__attribute__((noinline)) static void globals(int i) {
    NOTE(config.mode); NOTE(config.limits[2].min); NOTE(config.limits[1].max); NOTE(counter); NOTE(table[2]);
    NOTE(table[i & 7]); NOTE(cursor);
    config.mode = 7;
    config.limits[2].min = config.limits[1].max + counter;
    counter = counter + 1;
    counter++;
    counter += config.mode;
    table[i & 7] = 4;
    table[2]++;
    sink = table[i & 7];
    cursor = &table[2];
    NOTE(*cursor);
    *cursor = 5;
    *cursor += 5;
    (*cursor)++;
    sink = *cursor;
}

int main(int argc, char **argv) {
    (void)argv;
    NOTE(sink);
    struct Config *c = calloc(1, sizeof(struct Config));
    int *q = calloc(2, sizeof(int));
    NOTE(c->rows); NOTE(c->next); NOTE(c->data);
    c->rows = calloc(2, sizeof *c->rows);
    NOTE(c->rows[0]);
    c->rows[0] = c;
    c->next = c;
    set(c, argc);
    c->next = c;
    c->data = q;
    sink += use(c, q, c->rows, argc);
    globals(argc);
    sink += get(c) + get(&config);
    return 0;
}
