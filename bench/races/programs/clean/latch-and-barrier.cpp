#include <barrier>
#include <latch>
#include <thread>

int main() {
    int results[2] = {0, 0}, total = 0;
    std::latch started(2);
    std::barrier phase(2, [&]() noexcept { total += results[0] + results[1]; });
    auto work = [&](int own) {
        results[own] = own + 1;
        started.count_down();
        for (int i = 0; i < 3; i++) {
            phase.arrive_and_wait();
            results[own] += total;
        }
    };
    std::thread first(work, 0), second(work, 1);
    started.wait();
    first.join();
    second.join();
    return total == 0;
}
