#include <atomic>
#include <string>

extern "C" void note(const char *expression, const volatile void *address);
#define NOTE(x) note(#x, (const volatile void *)&(x))

namespace bank {
struct Base { int id; };
template <typename T> struct Pair { T first; T second; };
class Account : public Base {
  public:
    int balance;
    static Pair<long> total;
    Pair<Pair<short>> pairs[2];
};
Pair<long> Account::total;
Account house;
namespace { Account hidden; }
std::atomic<int> hits;
std::atomic<bool> done;
}
static int plain;

int main() {
    NOTE(bank::house.id);
    NOTE(bank::house.balance);
    NOTE(bank::house.pairs[1].second.first);
    NOTE(bank::Account::total.second);
    NOTE(bank::hits);
    NOTE(bank::done);
    NOTE(plain);
    note("hidden.balance", &bank::hidden.balance);
    plain++;
    return bank::hits + (int)bank::done;
}
