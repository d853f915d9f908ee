#include <memory>
#include <vector>

namespace bank {
struct Base { virtual ~Base() {} long id = 0; };
struct Account : Base { int balance = 0; int limit = 0; };
}

__attribute__((noinline)) static bank::Account *make() {
    return new bank::Account(); // returned
}

void *volatile kept; // keeps the optimiser from removing blocks

int main() {
    auto *a = new bank::Account; // one
    std::unique_ptr<bank::Account> unique = std::make_unique<bank::Account>(); // unique
    std::vector<bank::Account> many;
    many.reserve(3); // vector
    int *numbers = new int[7]; // numbers
    bank::Account *made = make();
    kept = a, kept = unique.get(), kept = many.data(), kept = numbers;
    a->balance = made->balance + numbers[1];
    delete a;
    delete made;
    delete[] numbers;
    return 0;
}
