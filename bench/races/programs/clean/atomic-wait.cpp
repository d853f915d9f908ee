#include <atomic>
#include <thread>

int main() {
    int data = 0;
    std::atomic<int> ready{0};
    std::thread publisher([&] {
        data = 42;
        ready.store(1, std::memory_order_release);
        ready.notify_one();
    });
    ready.wait(0, std::memory_order_acquire);
    int seen = data;
    publisher.join();
    return seen != 42;
}
