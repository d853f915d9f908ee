// A symbol table shared by several tokenizer threads: every distinct spelling gets one small integer id.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using SymbolId = uint32_t;

class Interner {
public:
    SymbolId intern(const std::string &text) {
        {
            std::shared_lock<std::shared_mutex> read(mutex_);
            auto it = ids_.find(text); /* BUG: a */
            if (it != ids_.end())
                return it->second;
        }
        std::unique_lock<std::shared_mutex> write(mutex_);
#ifdef FIXED
        auto again = ids_.find(text);
        if (again != ids_.end())
            return again->second;
#endif
        SymbolId id = static_cast<SymbolId>(names_.size());
        names_.push_back(text);
        ids_[text] = id; /* BUG: b */
        return id;
    }

    std::string name(SymbolId id) const {
        std::shared_lock<std::shared_mutex> read(mutex_);
        return names_.at(id);
    }

    size_t size() const {
        std::shared_lock<std::shared_mutex> read(mutex_);
        return names_.size();
    }

private:
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string, SymbolId> ids_;
    std::vector<std::string> names_;
};

struct Token {
    std::string text;
    SymbolId symbol;
};

class Document {
public:
    explicit Document(unsigned seed) : state_(seed * 2654435761u + 17) {}

    std::string word(int position) {
        unsigned r = 0;
        for (int i = 0; i < 2000; i++)
            r = roll();
        if (position % 40 == 39)
            return "import_" + std::to_string(r % 48);
        if (r % 4 == 0)
            return keywords[(r >> 8) % 6];
        return "local_" + std::to_string(state_ % 977) + "_" + std::to_string(position);
    }

    static constexpr const char *keywords[6] = {"if", "else", "while", "return", "fn", "let"};

private:
    unsigned roll() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        state_ ^= state_ << 5;
        return state_;
    }
    unsigned state_;
};

static std::atomic<size_t> tokenCount{0};

static void tokenize(unsigned seed, Interner &interner, std::vector<Token> &out) {
    Document doc(seed);
    for (int i = 0; i < 600; i++) {
        std::string w = doc.word(i);
        out.push_back(Token{w, interner.intern(w)});
    }
    tokenCount.fetch_add(out.size());
}

int main() {
    constexpr int kThreads = 4;
    Interner interner;
    for (const char *k : Document::keywords)
        interner.intern(k);

    std::vector<std::vector<Token>> tokens(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
        threads.emplace_back(tokenize, i + 1, std::ref(interner), std::ref(tokens[i]));
    for (auto &t : threads)
        t.join();

    for (const auto &stream : tokens) {
        for (const Token &t : stream) {
            SymbolId now = interner.intern(t.text);
            if (now != t.symbol || interner.name(t.symbol) != t.text) {
                std::fprintf(stderr, "symbol '%s' has two ids: %u and %u\n", t.text.c_str(), t.symbol, now);
                std::abort();
            }
        }
    }
    std::printf("%zu tokens, %zu symbols\n", tokenCount.load(), interner.size());
    return 0;
}
