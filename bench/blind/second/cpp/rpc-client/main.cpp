// A remote-call client: requests go to a server thread, replies come back as events on a loop thread that runs callbacks.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

template <typename T>
class Channel {
public:
    void push(T item) {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            items_.push_back(std::move(item));
        }
        ready_.notify_one();
    }

    std::optional<T> pop() {
        std::unique_lock<std::mutex> lock(mutex_);
        ready_.wait(lock, [this] { return closed_ || !items_.empty(); });
        if (items_.empty())
            return std::nullopt;
        T item = std::move(items_.front());
        items_.pop_front();
        return item;
    }

    void close() {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            closed_ = true;
        }
        ready_.notify_all();
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<T> items_;
    bool closed_ = false;
};

struct Request {
    uint64_t id;
    uint64_t argument;
};

using Event = std::function<void()>;
using Callback = std::function<void(uint64_t)>;

class RpcClient {
public:
    explicit RpcClient(Channel<Request> &wire) : wire_(wire) {}

    void call(uint64_t argument, Callback done) {
        uint64_t id = nextId_++;
#ifdef FIXED
        expect(id, std::move(done));
        wire_.push(Request{id, argument});
#else
        wire_.push(Request{id, argument}); /* BUG: a */
        expect(id, std::move(done)); /* BUG: b */
#endif
    }

    void onReply(uint64_t id, uint64_t result) {
        Callback done;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            auto it = pending_.find(id); /* BUG: c */
            if (it == pending_.end()) {
                unknown_++;
                return;
            }
            done = std::move(it->second);
            pending_.erase(it);
        }
        done(result);
    }

    size_t outstanding() {
        std::lock_guard<std::mutex> guard(mutex_);
        return pending_.size();
    }

private:
    void expect(uint64_t id, Callback done) {
        std::lock_guard<std::mutex> guard(mutex_);
        pending_.emplace(id, std::move(done)); /* BUG: d */
    }

    Channel<Request> &wire_;
    uint64_t nextId_ = 1;
    std::mutex mutex_;
    std::map<uint64_t, Callback> pending_;
    int unknown_ = 0;
};

static uint64_t collatz(uint64_t n, uint64_t span) {
    uint64_t steps = 0;
    for (uint64_t k = n; k < n + span; k++)
        for (uint64_t v = k; v != 1; steps++)
            v = v % 2 ? 3 * v + 1 : v / 2;
    return steps;
}

int main() {
    constexpr int kCalls = 60;
    Channel<Request> wire;
    Channel<Event> events;
    RpcClient client(wire);

    std::thread server([&] {
        const uint64_t offset = collatz(2, 12000);
        while (auto request = wire.pop()) {
            uint64_t result = collatz(request->argument, 900) + offset;
            events.push([&client, id = request->id, result] { client.onReply(id, result); });
        }
    });
    std::thread loop([&] {
        while (auto event = events.pop())
            (*event)();
    });

    std::vector<uint64_t> results(kCalls, 0);
    uint64_t prepared = 0;
    for (int i = 0; i < kCalls; i++) {
        prepared += collatz(500 + i, 300);
        client.call(1000 + i, [&results, i](uint64_t r) { results[i] = r; });
    }
    wire.close();
    server.join();
    events.close();
    loop.join();

    for (int i = 0; i < kCalls; i++) {
        if (results[i] == 0) {
            std::fprintf(stderr, "call %d never completed, %zu outstanding\n", i, client.outstanding());
            return 1;
        }
    }
    std::printf("%d calls completed, %llu\n", kCalls, (unsigned long long)prepared);
    return 0;
}
