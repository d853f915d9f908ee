#include <cstdio>
#include <dlfcn.h>
#include <mutex>
#include <thread>

extern "C" int deposit(int amount);
extern "C" int enter(void);

static std::mutex guard;

static void work() {
    for (int i = 0; i < 100; i++) {
        std::lock_guard<std::mutex> held(guard);
        deposit(1);
        enter();
    }
}

int main(int, char **argv) {
    std::thread first(work), second(work);
    first.join();
    second.join();
    void *plugin = dlopen(argv[1], RTLD_NOW);
    if (!plugin) return std::puts(dlerror()), 1;
    int fee = reinterpret_cast<int (*)()>(dlsym(plugin, "charge"))();
    std::printf("balance %d entries %d fee %d\n", deposit(0), enter() - 1, fee);
}
