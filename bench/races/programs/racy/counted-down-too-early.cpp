#include <cstdio>
#include <latch>
#include <thread>

int main() {
    int result = 0;
    std::latch done(1);
    std::thread worker([&] {
        done.count_down();
        result = 42; /* RACE */
    });
    done.wait();
    std::printf("%d\n", result); /* RACE */
    worker.join();
}
