// Accesses of all shapes in C++. NOTE says where an expression is, so that a wrong name is noticed.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

extern "C" void note(const char *expression, const volatile void *address);
#define NOTE(x) note(#x, (const volatile void *)&(x))

namespace bank {
struct Base {
    long id = 0; // unnoted
    virtual ~Base() {}
    virtual int kind() { return 1; }
};
struct Account : Base {
    int balance = 0; // unnoted
    static int total;
    int arr[4] = {}; // unnoted
    Account *peer = nullptr; // unnoted
    Account **rows = nullptr; // unnoted
    __attribute__((noinline)) void deposit(int n) {
        NOTE(balance); NOTE(total); NOTE(peer); NOTE(peer->balance); NOTE(this->balance); NOTE(id);
        balance += n;
        balance = n;
        total++;
        peer->balance = n;
        this->balance = n;
        id = n;
    }
    __attribute__((noinline)) int get() const { NOTE(balance); return balance; }
    __attribute__((noinline)) int at(int i) { NOTE(arr[i]); return arr[i]; }
    __attribute__((noinline)) void put(int i) { NOTE(arr[i]); arr[i] = i; arr[i]++; arr[i] += 2; }
    __attribute__((noinline)) int &ref() { return balance; }
};
int Account::total;
}

struct Cache {
    std::vector<int> items;
    bool empty = true; // unnoted
    std::unique_ptr<bank::Account> acc;
};
Cache *cache;
int sink;

__attribute__((noinline)) static void use(bank::Account *a, bank::Account &r, std::vector<bank::Account *> &all) {
    NOTE(sink); NOTE(a->ref()); NOTE(a->balance); NOTE(r.balance); NOTE((*a).balance); NOTE(a->peer->balance); NOTE(a->peer);
    NOTE(all[0]->balance); NOTE(a->peer->peer->balance); NOTE(a->peer->peer); NOTE(a->rows); NOTE(a->rows[1]);
    NOTE(a->rows[1]->balance); NOTE(all[0]); NOTE(a->arr[1]);
    int x = r.balance;
    r.balance = 3;
    r.balance++;
    x += a->get() + a->at(1);
    x = a->balance;
    x += a->arr[1];
    x += a->rows[1]->balance;
    a->ref() = 9;
    all[0]->balance = 5;
    x += all[0]->balance;
    for (auto *b : all) { NOTE(b->balance); b->balance += 1; }
    auto f = [a] { NOTE(a->balance); a->balance++; return a->balance; };
    x += f();
    (*a).balance = 3;
    a->peer->peer->balance -= x;
    x += a->peer->kind();
    sink += x;
}

__attribute__((noinline)) static void use_cache() {
    NOTE(cache); NOTE(cache->items[0]); NOTE(cache->empty); NOTE(cache->acc->balance); NOTE(sink);
    cache->items[0] = 3;
    cache->items[0]++;
    sink += cache->items[0];
    cache->empty = false;
    if (cache->empty) sink++;
    cache->acc->balance = 4;
    sink += cache->acc->balance;
    for (int &i : cache->items) { NOTE(i); i = i + 1; }
}

int main() {
    NOTE(cache);
    cache = new Cache;
    cache->acc = std::make_unique<bank::Account>();
    cache->items.push_back(3);
    auto *a = cache->acc.get(); // unnoted
    NOTE(a->peer); NOTE(a->rows);
    a->peer = a;
    a->rows = new bank::Account *[2];
    NOTE(a->rows[0]); NOTE(a->rows[1]);
    a->rows[0] = a->rows[1] = a;
    std::vector<bank::Account *> all;
    all.push_back(a);
    a->deposit(1);
    a->put(2);
    use(a, *a, all);
    use_cache();
    bank::Base *gone = new bank::Account;
    delete gone;
    return 0;
}
