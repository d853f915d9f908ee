#include <memory>
#include <thread>

#include "../schedule.h"

/* The counts of a shared_ptr are atomic; the shared_ptr is not. */
int main() {
    auto current = std::make_shared<int>(1);
    std::thread reader([&] {
        { std::shared_ptr<int> mine = current; } /* RACE */
        next_turn();
    });
    std::thread writer([&] {
        await_turn(1);
        current = std::make_shared<int>(2); /* RACE */
    });
    reader.join();
    writer.join();
}
