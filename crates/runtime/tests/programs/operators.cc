// Blocks that C++ allocates are known by the line that asked for them; allocation that fails throws as ever.
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>
struct Thing { int parts[8]; };
static Thing *one, *many;
static std::shared_ptr<Thing> shared;
static std::vector<int> numbers;
static std::string text;
static int uses() {
    return one->parts[0] + many[1].parts[1] + shared->parts[2] + numbers[0] + text[3];
}
int main() {
    one = new Thing(); // new
    many = new Thing[3](); // new_array
    shared = std::make_shared<Thing>();
    one->parts[0] = many[1].parts[1] = shared->parts[2] = 1;
    numbers.push_back(7);
    text = "a text that is too long to be kept inside";
    int sum = 0;
    std::thread([&] { sum = uses(); }).join();
    std::printf("%d\n", sum);
    volatile std::size_t huge = std::size_t(1) << 62;
    try {
        std::printf("%p\n", static_cast<void *>(new char[huge]));
    } catch (const std::bad_alloc &failure) {
        std::puts(failure.what());
    }
    std::printf("%p\n", static_cast<void *>(new (std::nothrow) char[huge]));
    auto *aligned = new (std::align_val_t(256)) Thing;
    std::printf("%zu\n", reinterpret_cast<std::size_t>(aligned) % 256);
    operator delete(aligned, std::align_val_t(256));
    delete one;
    delete[] many;
}
