// Local statics: the main thread initialises, another one waits or comes later; a constructor that throws is tried again.
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <unistd.h>

static int attempts;
static std::atomic<bool> has_begun{false};

struct Slow {
    int value;
    Slow() {
        has_begun = true;
        usleep(50000);
        value = 42;
    }
};

struct Moody {
    Moody() {
        if (attempts++ == 0) throw std::runtime_error("first");
    }
};

static int slow() {
    static Slow one;
    return one.value;
}

static void moody() { static Moody one; }

static void *wait_for_it(void *) {
    while (!has_begun)
        usleep(100);
    return reinterpret_cast<void *>(static_cast<long>(slow()));
}

int main() {
    pthread_t thread;
    void *seen;
    pthread_create(&thread, nullptr, wait_for_it, nullptr);
    int own = slow();
    pthread_join(thread, &seen);
    std::printf("%d %ld %d\n", own, reinterpret_cast<long>(seen), slow());
    try {
        moody();
    } catch (const std::runtime_error &error) {
        std::printf("caught %s\n", error.what());
    }
    moody();
    moody();
    std::printf("attempts %d\n", attempts);
}
