#include <future>
#include <mutex>
#include <shared_mutex>
#include <thread>

int main() {
    std::shared_mutex lock;
    int value = 1;
    auto read = [&] {
        std::shared_lock held(lock);
        return value;
    };
    auto write = [&] {
        std::unique_lock held(lock);
        value += 2;
    };
    int result = 0;
    std::promise<void> finished;
    std::thread reader([&] {
        result = read();
        finished.set_value();
    });
    std::thread writer(write);
    finished.get_future().wait();
    int seen = result;
    reader.join();
    writer.join();
    return seen % 2 == 0;
}
