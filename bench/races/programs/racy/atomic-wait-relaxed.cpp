#include <atomic>
#include <cstdio>
#include <thread>

int main() {
    int data = 0;
    std::atomic<int> ready{0};
    std::thread publisher([&] {
        data = 42; /* RACE */
        ready.store(1, std::memory_order_relaxed);
        ready.notify_one();
    });
    ready.wait(0, std::memory_order_relaxed);
    std::printf("%d\n", data); /* RACE */
    publisher.join();
}
