struct Account { int balance; };
struct Account accounts[4];

static inline __attribute__((always_inline)) void add(struct Account *a, int n) {
    a->balance += n; // innermost
}

static inline __attribute__((always_inline)) void deposit(int i, int n) {
    add(&accounts[i], n); // middle
}

__attribute__((noinline)) void run(int n) {
    deposit(n & 3, n); // outermost
    accounts[1].balance = n; // plain
}

int main(int argc, char **argv) {
    (void)argv;
    run(argc);
    return 0;
}
