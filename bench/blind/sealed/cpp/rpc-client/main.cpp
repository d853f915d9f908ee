// RPC client on top of an event loop: calls are posted to the loop's thread, which produces
// the replies and hands them to the client's completion callback.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

class EventLoop {
public:
    EventLoop() : thread_([this] { run(); }) {}

    ~EventLoop() {
        post([this] { stopping_ = true; });
        wake();
        thread_.join();
    }

    void post(std::function<void()> task) {
        std::lock_guard<std::mutex> lock(mutex_);
        tasks_.push_back(std::move(task)); /* BUG: a */
    }

    // Makes the loop look at what has been posted.
    void wake() { ready_.notify_one(); }

private:
    void run() {
        while (!stopping_) {
            std::unique_lock<std::mutex> lock(mutex_);
            ready_.wait(lock, [this] { return !tasks_.empty(); });
            auto task = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            task();
        }
    }

    std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<std::function<void()>> tasks_;
    bool stopping_ = false;  // loop thread only
    std::thread thread_;
};

class Transport {
public:
    using OnReply = std::function<void(std::uint32_t id, std::uint32_t reply)>;

    Transport(EventLoop& loop, OnReply on_reply) : loop_(loop), on_reply_(std::move(on_reply)) {}

    // Returns the id under which the reply will come in.
    std::uint32_t send(std::uint32_t argument, int effort) {
        const std::uint32_t id = ids_.fetch_add(1);
        loop_.post([this, id, argument, effort] { on_reply_(id, serve(argument, effort)); });
        return id;
    }

    static std::uint32_t serve(std::uint32_t x, int effort) {
        for (int i = 0; i < effort; ++i) x = (x ^ (x >> 13)) * 3266489917u + 7u;
        return x;
    }

private:
    EventLoop& loop_;
    OnReply on_reply_;
    std::atomic<std::uint32_t> ids_{1};
};

class RpcClient {
public:
    explicit RpcClient(EventLoop& loop)
        : loop_(loop), transport_(loop, [this](std::uint32_t id, std::uint32_t reply) { complete(id, reply); }) {}

    std::future<std::uint32_t> call(std::uint32_t argument, int effort) {
        std::promise<std::uint32_t> promise;
        auto future = promise.get_future();
        {
#ifdef FIXED
            std::lock_guard<std::mutex> lock(mutex_);
            const std::uint32_t id = transport_.send(argument, effort);
#else
            const std::uint32_t id = transport_.send(argument, effort); /* BUG: b */
            std::lock_guard<std::mutex> lock(mutex_);
#endif
            open_calls_.emplace(id, std::move(promise)); /* BUG: c */
        }
        loop_.wake();
        return future;
    }

    std::size_t open_calls() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return open_calls_.size();
    }

private:
    void complete(std::uint32_t id, std::uint32_t reply) {
        std::unique_lock<std::mutex> lock(mutex_);
        auto it = open_calls_.find(id); /* BUG: d */
        if (it == open_calls_.end()) {
            std::fprintf(stderr, "reply for unknown call %u\n", id);
            std::abort();
        }
        auto promise = std::move(it->second);
        open_calls_.erase(it);
        lock.unlock();
        promise.set_value(reply);
    }

    EventLoop& loop_;
    mutable std::mutex mutex_;
    std::unordered_map<std::uint32_t, std::promise<std::uint32_t>> open_calls_;
    Transport transport_;
};

int main() {
    constexpr int kCallers = 2;
    constexpr int kRounds = 8;
    std::atomic<int> wrong{0};
    {
        EventLoop loop;
        RpcClient client(loop);
        std::vector<std::thread> callers;
        for (int c = 0; c < kCallers; ++c)
            callers.emplace_back([&, c] {
                for (int r = 0; r < kRounds; ++r) {
                    const auto base = static_cast<std::uint32_t>(c * 100 + r);
                    auto heavy = client.call(base, 30000);
                    const std::uint32_t local = Transport::serve(base, 20000);
                    auto light = client.call(local, 5000);
                    if (heavy.get() != Transport::serve(local, 10000)) wrong.fetch_add(1);
                    if (light.get() != Transport::serve(local, 5000)) wrong.fetch_add(1);
                }
            });
        for (auto& t : callers) t.join();
        if (client.open_calls() != 0) wrong.fetch_add(1);
    }
    if (wrong.load() != 0) {
        std::fprintf(stderr, "%d wrong replies\n", wrong.load());
        return EXIT_FAILURE;
    }
    std::printf("all calls answered\n");
    return EXIT_SUCCESS;
}
