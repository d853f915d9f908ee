/* Strings of a script engine: a length and the letters. `flatten` makes a string that was joined from pieces into
 * one piece, and in doing so appends what is still missing; any thread may read the string meanwhile.
 *
 * Length and letters are atomics, each of them always right. But they change one after the other: who reads both
 * in between takes the new length for the old letters.
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

/* Letters are never freed while the engine runs: the collector does that at the end. */
class Heap {
public:
    char *letters(size_t length) {
        std::lock_guard<std::mutex> held(lock_);
        blocks_.emplace_back(new char[length * 2 + 64]());
        return blocks_.back().get();
    }

private:
    std::mutex lock_;
    std::vector<std::unique_ptr<char[]>> blocks_;
};

class String {
public:
    String(Heap &heap, const std::string &text) : heap_(heap) {
        char *letters = heap.letters(text.size());
        std::memcpy(letters, text.data(), text.size());
        length_ = text.size();
        letters_ = letters;
    }

    void flatten(const std::vector<std::string> &pieces) {
        std::string rest;
        for (const std::string &piece : pieces)
            rest += piece;
        size_t old = length_.load();
        char *letters = heap_.letters(old + rest.size());
        std::memcpy(letters, letters_.load(), old);
        std::memcpy(letters + old, rest.data(), rest.size());
#ifdef FIXED
        std::lock_guard<std::mutex> held(whole_);
#endif
        length_.store(old + rest.size()); /* BUG: 1 */
        note_growth(rest);
        letters_.store(letters); /* BUG: 4 */
    }

    std::string copy() {
#ifdef FIXED
        std::lock_guard<std::mutex> held(whole_);
#endif
        size_t length = length_.load();         /* BUG: 2 */
        const char *letters = letters_.load(); /* BUG: 3 */
        return std::string(letters, length);
    }

private:
    /* The engine's memory accounts, and what the collector wants to know of a string. */
    void note_growth(const std::string &rest) {
        unsigned hash = 2166136261u;
        for (unsigned char letter : rest)
            hash = (hash ^ letter) * 16777619u;
        hash_.store(hash, std::memory_order_relaxed);
    }

    Heap &heap_;
    std::atomic<size_t> length_{0};
    std::atomic<char *> letters_{nullptr};
    std::atomic<unsigned> hash_{0};
#ifdef FIXED
    std::mutex whole_;
#endif
};

/* A reader that compares what it sees with what it can be: no letter is zero. */
bool is_torn(const std::string &text) { return std::memchr(text.data(), 0, text.size()) != nullptr; }

unsigned evaluate(const std::string &text, int rounds) {
    unsigned hash = 1;
    for (int i = 0; i < rounds; i++)
        for (unsigned char letter : text.substr(0, 16))
            hash = hash * 31 + letter;
    return hash;
}

} // namespace

int main(int count, char **arguments) {
    int reads = count > 1 ? std::atoi(arguments[1]) : 120;
    int pause = count > 2 ? std::atoi(arguments[2]) : 100;
    Heap heap;
    String title(heap, "Unhandled exception in a script of this page");
    std::vector<std::string> pieces;
    for (int line = 0; line < 40; line++)
        pieces.push_back(" at line " + std::to_string(line) + ";");
    int torn = 0;
    unsigned value = 0;
    std::thread writer([&] {
        value ^= evaluate("preparing the pieces", reads * pause / 2);
        title.flatten(pieces);
    });
    unsigned seen = 0;
    std::thread reader([&] {
        for (int i = 0; i < reads; i++) {
            std::string text = title.copy();
            torn += is_torn(text);
            seen ^= evaluate(text, pause);
        }
    });
    writer.join();
    reader.join();
    std::printf("%d reads, values %08x %08x\n", reads, value, seen);
    if (torn > 0) {
        std::fprintf(stderr, "FAILED: a string was read with the length of another\n");
        return 1;
    }
    return 0;
}
