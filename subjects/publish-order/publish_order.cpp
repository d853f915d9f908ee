/* A service that takes its configuration from a block that is replaced as a whole. Readers look up which block is
 * the current one, and then read in it; all of it is atomics, with acquire and release.
 *
 * The block is announced first and sealed afterwards: the order of the two stores is the wrong one. A reader that
 * comes in between has the new block without its seal.
 */
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

struct Block {
    std::array<std::atomic<std::uint32_t>, 128> settings{};
    std::atomic<std::uint32_t> seal{0};
};

std::uint32_t mix(std::uint32_t hash, std::uint32_t value) { return (hash ^ value) * 16777619u; }

std::uint32_t work(std::uint32_t seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = mix(seed, static_cast<std::uint32_t>(i));
    return seed;
}

class Configuration {
public:
    Configuration() {
        fill(blocks_[0], 1);
        blocks_[0].seal.store(seal_of(blocks_[0]));
    }

    void replace(std::uint32_t seed) {
        Block &next = blocks_[1];
        fill(next, seed);
#ifdef FIXED
        next.seal.store(seal_of(next), std::memory_order_release);
        current_.store(1, std::memory_order_release);
#else
        current_.store(1, std::memory_order_release); /* BUG: 1 */
        next.seal.store(seal_of(next), std::memory_order_release); /* BUG: 4 */
#endif
        replaced_.fetch_add(1);
    }

    /* Does the current block carry a seal? */
    bool check() {
        int current = current_.load(std::memory_order_acquire);                          /* BUG: 2 */
        std::uint32_t seal = blocks_[current].seal.load(std::memory_order_acquire); /* BUG: 3 */
        checks_.fetch_add(1, std::memory_order_relaxed);
        return seal != 0;
    }

    long checks() const { return checks_.load(); }

private:
    static void fill(Block &block, std::uint32_t seed) {
        for (auto &setting : block.settings) {
            seed = mix(seed, 97);
            setting.store(seed, std::memory_order_relaxed);
        }
    }

    static std::uint32_t seal_of(const Block &block) {
        std::uint32_t seal = 2166136261u;
        for (const auto &setting : block.settings)
            seal = mix(seal, setting.load(std::memory_order_relaxed));
        return seal | 1;
    }

    std::array<Block, 2> blocks_;
    std::atomic<int> current_{0};
    std::atomic<long> replaced_{0};
    std::atomic<long> checks_{0};
};

} // namespace

int main(int count, char **arguments) {
    int requests = count > 1 ? std::atoi(arguments[1]) : 400;
    int effort = count > 2 ? std::atoi(arguments[2]) : 300;
    Configuration configuration;
    std::atomic<int> refused{0};
    std::atomic<std::uint32_t> answers{0};
    std::thread service([&] {
        for (int i = 0; i < requests; i++) {
            if (!configuration.check())
                refused.fetch_add(1);
            answers.fetch_xor(work(static_cast<std::uint32_t>(i), effort));
        }
    });
    std::thread administrator([&] {
        std::uint32_t seed = work(5, requests * effort / 2);
        configuration.replace(seed);
    });
    service.join();
    administrator.join();
    std::printf("%ld checks, answers %08x\n", configuration.checks(), answers.load());
    if (refused.load() > 0) {
        std::fprintf(stderr, "FAILED: a configuration without a seal was in use\n");
        return 1;
    }
    return 0;
}
