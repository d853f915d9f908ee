#include <mutex>
#include <thread>
#include <vector>

namespace {

std::once_flag filled;
std::vector<int> squares;

void fill() {
    for (int i = 0; i < 4; i++)
        squares.push_back(i * i);
}

int square(int of) {
    std::call_once(filled, fill);
    return squares[of];
}

/* The compiler guards the initialisation of a local static. */
const std::vector<int> &cubes() {
    static const std::vector<int> all{0, 1, 8, 27};
    return all;
}

} // namespace

int main() {
    int sums[2];
    std::thread first([&] { sums[0] = square(2) + cubes()[2]; });
    std::thread second([&] { sums[1] = square(3) + cubes()[3]; });
    first.join();
    second.join();
    return sums[0] + sums[1] != 48;
}
