#include <memory>
#include <thread>
#include <vector>

/* Each thread has its own copy; whoever is last destroys what all have read. */
int main() {
    auto numbers = std::make_shared<std::vector<int>>(16, 1);
    auto sum = [](std::shared_ptr<std::vector<int>> mine) {
        int total = 0;
        for (int number : *mine)
            total += number;
        return total;
    };
    std::thread first([=] { sum(numbers); });
    std::thread second([=] { sum(numbers); });
    numbers.reset();
    first.join();
    second.join();
}
