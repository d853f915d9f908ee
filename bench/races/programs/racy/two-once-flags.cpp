#include <mutex>
#include <thread>

namespace {

int table[4];

void fill() {
    for (int i = 0; i < 4; i++)
        table[i] = i * i; /* RACE */
}

struct Reader {
    std::once_flag filled;
    int read(int at) {
        std::call_once(filled, fill);
        return table[at]; /* RACE */
    }
};

} // namespace

int main() {
    Reader one, other;
    int sums[2];
    std::thread first([&] { sums[0] = one.read(1); });
    std::thread second([&] { sums[1] = other.read(2); });
    first.join();
    second.join();
    return sums[0] + sums[1] != 5;
}
