// In-memory session table of a small HTTP front end. Handlers touch the session of the
// user they serve, a reaper removes sessions that have been idle for too long.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kHandlers = 3;
constexpr int kUsers = 24;
constexpr int kRequests = 140;
constexpr std::uint64_t kIdleLimit = 40;

struct Session {
    std::string user;
    std::uint64_t last_seen = 0;
    std::uint64_t hits = 0;
};

std::uint64_t digest(const std::string& text, int rounds) {
    std::uint64_t h = 1469598103934665603ull;
    for (int r = 0; r < rounds; ++r)
        for (unsigned char c : text) h = (h ^ c) * 1099511628211ull;
    return h;
}

class SessionTable {
public:
    bool contains(int user) const {
        std::lock_guard<std::mutex> guard(mutex_);
        return sessions_.find(user) != sessions_.end(); /* BUG: a */
    }

    void login(int user, std::uint64_t now) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto [it, fresh] = sessions_.try_emplace(user);
        if (fresh) {
            it->second.user = "user-" + std::to_string(user);
            ++logins_;
        }
        it->second.last_seen = now;
    }

    std::string touch(int user, std::uint64_t now) {
        std::lock_guard<std::mutex> guard(mutex_);
        Session& session = sessions_.at(user); /* BUG: b */
        session.last_seen = now;
        ++session.hits;
        ++total_hits_;
        return session.user;
    }

    std::string touch_or_login(int user, std::uint64_t now) {
        std::lock_guard<std::mutex> guard(mutex_);
        auto [it, fresh] = sessions_.try_emplace(user);
        if (fresh) {
            it->second.user = "user-" + std::to_string(user);
            ++logins_;
        }
        it->second.last_seen = now;
        ++it->second.hits;
        ++total_hits_;
        return it->second.user;
    }

    std::size_t reap(std::uint64_t now) {
        std::lock_guard<std::mutex> guard(mutex_);
        std::size_t removed = 0;
        for (auto it = sessions_.begin(); it != sessions_.end();) {
            if (it->second.last_seen + kIdleLimit < now) {
                it = sessions_.erase(it); /* BUG: c */
                ++removed;
            } else {
                ++it;
            }
        }
        return removed;
    }

    std::uint64_t total_hits() const {
        std::lock_guard<std::mutex> guard(mutex_);
        return total_hits_;
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<int, Session> sessions_;
    std::uint64_t total_hits_ = 0;
    std::uint64_t logins_ = 0;
};

std::atomic<std::uint64_t> g_clock{1};
std::atomic<int> g_handlers_left{kHandlers};
std::atomic<std::uint64_t> g_page_digest{0};

void handler(SessionTable& table, unsigned seed) {
    for (int i = 0; i < kRequests; ++i) {
        seed = seed * 1664525u + 1013904223u;
        const int user = static_cast<int>((seed >> 16) % kUsers);
        const std::uint64_t now = g_clock.fetch_add(1);
#ifdef FIXED
        const std::string name = table.touch_or_login(user, now);
#else
        if (!table.contains(user)) table.login(user, now); /* BUG: d */
        const std::string name = table.touch(user, now); /* BUG: e */
#endif
        g_page_digest.fetch_xor(digest(name, 600));
    }
    g_handlers_left.fetch_sub(1);
}

void reaper(SessionTable& table) {
    std::uint64_t audit = 0;
    while (g_handlers_left.load() > 0) {
        audit ^= digest("sweep", 30000);
        audit += table.reap(g_clock.load());
    }
    g_page_digest.fetch_xor(audit & 1);
}

}  // namespace

int main() {
    SessionTable table;
    std::vector<std::thread> threads;
    for (int i = 0; i < kHandlers; ++i)
        threads.emplace_back(handler, std::ref(table), 77u + 31u * static_cast<unsigned>(i));
    threads.emplace_back(reaper, std::ref(table));
    for (auto& t : threads) t.join();

    if (table.total_hits() != static_cast<std::uint64_t>(kHandlers) * kRequests) {
        std::fprintf(stderr, "hit counter is off\n");
        return EXIT_FAILURE;
    }
    std::printf("served %llu requests\n", static_cast<unsigned long long>(table.total_hits()));
    return EXIT_SUCCESS;
}
