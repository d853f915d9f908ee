// Stock room: pickers reserve articles for orders and either ship them or let the reservation
// lapse; lapsed reservations are given back in one go by a clerk.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

struct Reservation {
    std::size_t article;
    int quantity;
};

class StockRoom {
public:
    StockRoom(std::size_t articles, int stock) : shelves_(articles) {
        for (auto& shelf : shelves_) shelf.stock = stock;
    }

    bool reserve(std::size_t article, int quantity) {
        std::lock_guard<std::mutex> lock(shelf_mutex_);
        Shelf& shelf = shelves_[article];
        if (shelf.stock - shelf.reserved < quantity) return false;
        shelf.reserved += quantity; /* BUG: a */
        return true;
    }

    void ship(const Reservation& r) {
        std::lock_guard<std::mutex> lock(shelf_mutex_);
        Shelf& shelf = shelves_[r.article];
        shelf.stock -= r.quantity;
        shelf.reserved -= r.quantity; /* BUG: b */
        shipped_ += r.quantity;
    }

    void lapse(const Reservation& r) {
        std::lock_guard<std::mutex> lock(lapsed_mutex_);
        lapsed_.push_back(r);
    }

    // Gives back what has lapsed, at most `limit` reservations.
    std::size_t restore(std::size_t limit) {
        std::lock_guard<std::mutex> lock(lapsed_mutex_);
        std::size_t done = 0;
        while (!lapsed_.empty() && done < limit) {
            const Reservation r = lapsed_.front();
            lapsed_.pop_front();
            ++done;
#ifdef FIXED
            std::lock_guard<std::mutex> shelf_lock(shelf_mutex_);
#endif
            Shelf& shelf = shelves_[r.article];
            const int left = shelf.reserved - r.quantity; /* BUG: c */
            if (left == 0) ++cleared_;
            shelf.reserved = left; /* BUG: d */
        }
        return done;
    }

    int reserved_now() {
        std::scoped_lock lock(shelf_mutex_, lapsed_mutex_);
        int sum = 0;
        for (const auto& shelf : shelves_) sum += shelf.reserved;
        return sum;
    }

    std::pair<int, int> balance() {
        std::lock_guard<std::mutex> lock(shelf_mutex_);
        int stock = 0;
        for (const auto& shelf : shelves_) stock += shelf.stock;
        return {stock, shipped_};
    }

private:
    struct Shelf {
        int stock = 0;
        int reserved = 0;
    };

    std::mutex shelf_mutex_;
    std::vector<Shelf> shelves_;
    int shipped_ = 0;
    std::mutex lapsed_mutex_;
    std::deque<Reservation> lapsed_;
    unsigned cleared_ = 0;  // times that a shelf had no reservation left
};

int main() {
    constexpr int kPickers = 3;
    constexpr int kOrders = 120;
    constexpr std::size_t kArticles = 4;
    constexpr int kStock = 5000;

    StockRoom room(kArticles, kStock);
    std::atomic<int> pickers_left{kPickers};
    std::atomic<int> refused{0};

    std::vector<std::thread> threads;
    for (int p = 0; p < kPickers; ++p)
        threads.emplace_back([&, p] {
            std::uint32_t x = 5u + 3u * static_cast<std::uint32_t>(p);
            for (int i = 0; i < kOrders; ++i) {
                for (int k = 0; k < 7000; ++k) x = x * 1664525u + 1013904223u;
                const Reservation r{(x >> 20) % kArticles, 1 + static_cast<int>((x >> 10) % 9)};
                if (!room.reserve(r.article, r.quantity)) {
                    refused.fetch_add(1);
                    continue;
                }
                for (int k = 0; k < 3000; ++k) x = x * 22695477u + 1u;
                if (x & 0x80000000u)
                    room.ship(r);
                else
                    room.lapse(r);
            }
            pickers_left.fetch_sub(1);
        });
    threads.emplace_back([&] {
        std::uint32_t x = 17;
        while (pickers_left.load() > 0) {
            for (int k = 0; k < 20000; ++k) x = x * 69069u + 1u;
            room.restore(4 + (x >> 31));
        }
    });
    for (auto& t : threads) t.join();
    while (room.restore(16) > 0) {
    }

    const auto [stock, shipped] = room.balance();
    if (stock + shipped != static_cast<int>(kArticles) * kStock || refused.load() != 0) {
        std::fprintf(stderr, "stock does not add up\n");
        return EXIT_FAILURE;
    }
    if (const int reserved = room.reserved_now(); reserved != 0) {
        std::fprintf(stderr, "reservations are off by %d pieces\n", reserved);
        return EXIT_FAILURE;
    }
    std::printf("%d shipped\n", shipped);
    return EXIT_SUCCESS;
}
