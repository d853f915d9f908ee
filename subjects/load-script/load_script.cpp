/* A document loader: scripts are fetched and compiled one after the other; the one being loaded is kept in
 * `current_`, because the stream's callbacks have no other way to know it. When the user leaves a page, its thread
 * makes the loader forget whatever is being loaded.
 *
 * Every access to `current_` is under the lock, so there is no data race. But from `begin` to `complete` the parser
 * counts on it to stay, and `forget` does not ask whether a load is on its way: then a null script is compiled.
 */
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Script {
    std::string address;
    std::string text;
    unsigned code = 0;
};

unsigned mix(unsigned hash, const std::string &text) {
    for (unsigned char letter : text)
        hash = (hash ^ letter) * 16777619u;
    return hash;
}

class Document {
public:
    explicit Document(int scripts) {
        for (int i = 0; i < scripts; i++)
            scripts_.push_back({"page/script" + std::to_string(i) + ".js", "", 0});
    }

    /* The parser's thread: one script after the other. */
    void load_all(int parse_work, int fetch_work) {
        for (Script &script : scripts_) {
            parse_up_to(script, parse_work);
#ifdef FIXED
            std::lock_guard<std::mutex> whole(loading_);
#endif
            begin(&script);
            fetch(script, fetch_work);
            complete();
        }
    }

    /* The user's thread: the page before this one is gone, and with it what it was loading. */
    void forget() {
#ifdef FIXED
        std::lock_guard<std::mutex> whole(loading_);
#endif
        std::lock_guard<std::mutex> held(lock_);
        current_ = nullptr; /* BUG: 2 */
        forgotten_++;
    }

    unsigned compiled() const {
        unsigned hash = 0;
        for (const Script &script : scripts_)
            hash = hash * 31 + script.code;
        return hash;
    }

private:
    void begin(Script *script) {
        std::lock_guard<std::mutex> held(lock_);
        current_ = script; /* BUG: 1 */
        started_++;
    }

    void complete() {
        Script *script;
        {
            std::lock_guard<std::mutex> held(lock_);
            script = current_; /* BUG: 3 */
            finished_++;
        }
        compile(script);
    }

    void parse_up_to(const Script &script, int work) {
        for (int i = 0; i < work; i++)
            position_ = mix(position_, script.address);
    }

    static void fetch(Script &script, int work) {
        for (int i = 0; i < work; i++)
            script.text += "let v" + std::to_string(i) + ";";
    }

    static void compile(Script *script) { script->code = mix(2166136261u, script->text); }

    std::mutex lock_;
#ifdef FIXED
    std::mutex loading_;
#endif
    Script *current_ = nullptr;
    long started_ = 0;
    long finished_ = 0;
    long forgotten_ = 0;
    unsigned position_ = 0;
    std::vector<Script> scripts_;
};

} // namespace

int main(int count, char **arguments) {
    int parse_work = count > 1 ? std::atoi(arguments[1]) : 400;
    int fetch_work = count > 2 ? std::atoi(arguments[2]) : 60;
    Document document(12);
    std::thread parser([&] { document.load_all(parse_work, fetch_work); });
    std::thread user([&] {
        std::string history;
        for (int page = 0; page < 60; page++)
            history = std::to_string(mix(17, history) + static_cast<unsigned>(page)) + history.substr(0, 200);
        document.forget();
    });
    parser.join();
    user.join();
    std::printf("all scripts compiled: %08x\n", document.compiled());
    return 0;
}
