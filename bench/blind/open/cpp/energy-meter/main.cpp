// Energy metering: samplers integrate power readings of their own circuit and add each
// finished interval to the household totals.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace meter {

constexpr int kCircuits = 4;
constexpr int kIntervals = 25;
constexpr int kSamples = 4000;

class Totals {
public:
    void add_interval(int circuit, double watt_seconds, double peak_watts) {
        intervals_.fetch_add(1, std::memory_order_relaxed);
        per_circuit_[static_cast<std::size_t>(circuit)].fetch_add(1, std::memory_order_relaxed);
        raise_peak(peak_watts);
        add_energy(watt_seconds);
    }

    double energy() const { return energy_.load(); }
    double peak() const { return peak_.load(); }
    std::uint64_t intervals() const { return intervals_.load(); }
    std::uint64_t intervals_of(int circuit) const {
        return per_circuit_[static_cast<std::size_t>(circuit)].load();
    }

private:
    void raise_peak(double watts) {
        double seen = peak_.load();
        while (watts > seen && !peak_.compare_exchange_weak(seen, watts)) {
        }
    }

    void add_energy(double watt_seconds) {
#ifdef FIXED
        double seen = energy_.load();
        while (!energy_.compare_exchange_weak(seen, seen + watt_seconds)) {
        }
#else
        const double before = energy_.load(); /* BUG: a */
        energy_.store(before + watt_seconds); /* BUG: b */
#endif
    }

    std::atomic<double> energy_{0.0};
    std::atomic<double> peak_{0.0};
    std::atomic<std::uint64_t> intervals_{0};
    std::array<std::atomic<std::uint64_t>, kCircuits> per_circuit_{};
};

// Notices that the display task would show.
class Journal {
public:
    void note(std::string line) {
        std::lock_guard<std::mutex> lock(mutex_);
        lines_.push_back(std::move(line));
    }
    std::size_t size() const {
        std::lock_guard<std::mutex> lock(mutex_);
        return lines_.size();
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

// Whole watts only, so that sums of doubles are exact.
double reading(int circuit, int interval, int sample) {
    const unsigned mix = static_cast<unsigned>(sample * 7 + interval * 13 + circuit * 29);
    return static_cast<double>((mix * 2654435761u) >> 22);
}

void integrate(int circuit, int interval, double& sum, double& peak) {
    sum = 0;
    peak = 0;
    for (int s = 0; s < kSamples; ++s) {
        const double w = reading(circuit, interval, s);
        sum += w;
        peak = std::max(peak, w);
    }
}

void sampler(int circuit, Totals& totals, Journal& journal) {
    for (int i = 0; i < kIntervals; ++i) {
        double sum = 0, peak = 0;
        integrate(circuit, i, sum, peak);
        totals.add_interval(circuit, sum, peak);
    }
    journal.note("circuit " + std::to_string(circuit) + " done");
}

}  // namespace meter

int main() {
    using namespace meter;
    Totals totals;
    Journal journal;
    std::vector<std::thread> samplers;
    for (int c = 0; c < kCircuits; ++c)
        samplers.emplace_back(sampler, c, std::ref(totals), std::ref(journal));
    for (auto& t : samplers) t.join();

    double expected = 0, expected_peak = 0;
    for (int c = 0; c < kCircuits; ++c)
        for (int i = 0; i < kIntervals; ++i) {
            double sum = 0, peak = 0;
            integrate(c, i, sum, peak);
            expected += sum;
            expected_peak = std::max(expected_peak, peak);
        }

    if (totals.intervals() != kCircuits * kIntervals || journal.size() != kCircuits ||
        totals.intervals_of(0) != kIntervals || totals.peak() != expected_peak) {
        std::fprintf(stderr, "bookkeeping is off\n");
        return EXIT_FAILURE;
    }
    if (totals.energy() != expected) {
        std::fprintf(stderr, "energy total is short by %.0f Ws\n", expected - totals.energy());
        return EXIT_FAILURE;
    }
    std::printf("%.0f Ws\n", totals.energy());
    return EXIT_SUCCESS;
}
