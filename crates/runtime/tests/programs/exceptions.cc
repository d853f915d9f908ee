// C++ exceptions through our frames, thread_local destructors, and the standard library's own synchronisation.
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>

static std::once_flag flag;
static pthread_once_t posix_once = PTHREAD_ONCE_INIT;
static int attempts;
static std::mutex mutex;
static int late;

struct Late {
    ~Late() {
        std::lock_guard<std::mutex> guard(mutex);
        late++;
    }
};
static thread_local Late of_thread;

static void fail_first() {
    if (attempts++ == 0) throw std::runtime_error("first");
}

struct Unwound {
    const char *name;
    ~Unwound() { std::printf("unwound %s\n", name); }
};

static void *exits(void *) {
    Unwound outer{"outer"};
    (void)&of_thread;
    [] {
        Unwound inner{"inner"};
        pthread_exit(nullptr);
    }();
    return nullptr;
}

int main() {
    try {
        std::call_once(flag, fail_first);
    } catch (const std::runtime_error &error) {
        std::printf("caught %s\n", error.what());
    }
    std::call_once(flag, fail_first);
    std::call_once(flag, fail_first);
    attempts = 0;
    try {
        pthread_once(&posix_once, fail_first);
    } catch (const std::runtime_error &error) {
        std::printf("caught %s\n", error.what());
    }
    pthread_once(&posix_once, fail_first);
    std::printf("attempts %d\n", attempts);

    pthread_t thread;
    pthread_create(&thread, nullptr, exits, nullptr);
    pthread_join(thread, nullptr);
    std::printf("late %d\n", late);

    auto future = std::async(std::launch::async, [] () -> int { throw std::logic_error("from a thread"); });
    try {
        future.get();
    } catch (const std::logic_error &error) {
        std::printf("caught %s\n", error.what());
    }
    std::shared_mutex shared;
    std::timed_mutex timed;
    {
        std::shared_lock reading(shared);
        std::unique_lock waiting(timed, std::chrono::milliseconds(10));
        std::printf("timed %d\n", (int)waiting.owns_lock());
    }
    std::thread([&] { std::unique_lock writing(shared); }).join();
    return 0;
}
