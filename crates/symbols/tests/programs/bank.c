#include <stdlib.h>

struct Account { long id; int balance; struct { short day, month; } opened; };
struct Message { int length; char text[]; };
struct Bank { struct Account *accounts; struct Message *last; };
typedef struct { double x, y; } Point;

__attribute__((noinline)) static struct Account *open_account(void) {
    struct Account *a = malloc(sizeof *a); // one
    return a;
}

__attribute__((noinline)) static void *checked(size_t size) {
    void *block = malloc(size); // own allocator
    if (!block) abort();
    return block;
}

void *volatile kept; // keeps the optimiser from removing blocks

int main(void) {
    struct Bank *bank = calloc(1, sizeof(struct Bank)); // bank
    bank->accounts = malloc(3 * sizeof(struct Account)); // several
    bank->last = malloc(sizeof(struct Message) + 20); // open end
    Point *p = (Point *)malloc(sizeof(Point)); // typedef
    void *raw = malloc(40); // raw
    struct Account *one = open_account();
    void *own = checked(48);
    kept = bank, kept = p, kept = raw, kept = own;
    one->balance = bank->accounts[2].balance;
    free(own), free(raw), free(p), free(one);
    return 0;
}
