/* A database server that must not do anything without a trace: every insertion goes into the binary log. An
 * administrator flushes the logs, which closes the current file and opens the next one.
 *
 * Opening writes the type of the log back that closing has overwritten. A session that asks in between sees a closed
 * log, takes logging for switched off, and inserts without a trace.
 */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

enum class LogType { closed, binary };

unsigned mix(unsigned hash, const std::string &text) {
    for (unsigned char letter : text)
        hash = (hash ^ letter) * 16777619u;
    return hash;
}

unsigned think(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = (seed ^ (seed >> 7)) * 2654435761u;
    return seed;
}

struct LogFile {
    std::string name;
    std::string text;
    unsigned seal = 0;
};

class BinaryLog {
public:
    BinaryLog() { open(LogType::binary); }

    /* Closes the current file and goes on with a new one. */
    void new_file() {
        std::lock_guard<std::mutex> held(lock_);
        LogType local_type = type_;
        close();
        open(local_type);
        flushes_++;
    }

#ifdef FIXED
    bool is_open() {
        std::lock_guard<std::mutex> held(lock_);
        return type_ != LogType::closed;
    }
#else
    bool is_open() {
        return type_ != LogType::closed; /* BUG: 2 */
    }
#endif

    void write(const std::string &statement) {
        std::lock_guard<std::mutex> held(lock_);
        files_.back().text += statement + ";\n";
        entries_++;
    }

    long entries() const { return entries_; }
    size_t files() const { return files_.size(); }

private:
    void close() {
        type_ = LogType::closed; /* BUG: 1 */
        files_.back().seal = mix(2166136261u, files_.back().text);
    }

    void open(LogType type) {
        files_.push_back({"server-bin." + std::to_string(files_.size() + 1), "", 0});
        type_ = type; /* BUG: 3 */
    }

    std::mutex lock_;
    LogType type_ = LogType::closed;
    std::vector<LogFile> files_;
    long entries_ = 0;
    long flushes_ = 0;
};

class Table {
public:
    void insert(const std::string &key, unsigned value) {
        std::lock_guard<std::mutex> held(lock_);
        rows_[key] = value;
    }
    long rows() const { return static_cast<long>(rows_.size()); }

private:
    std::mutex lock_;
    std::map<std::string, unsigned> rows_;
};

class Server {
public:
    void sql_insert(int session, int number, int work) {
        unsigned value = think(static_cast<unsigned>(session * 1000 + number), work);
        std::string key = std::to_string(session) + "/" + std::to_string(number);
        table_.insert(key, value);
        if (log_.is_open())
            log_.write("INSERT INTO accounts VALUES ('" + key + "', " + std::to_string(value) + ")");
    }

    void flush_logs() { log_.new_file(); }
    long rows() const { return table_.rows(); }
    long logged() const { return log_.entries(); }
    size_t files() const { return log_.files(); }

private:
    BinaryLog log_;
    Table table_;
};

} // namespace

int main(int count, char **arguments) {
    int statements = count > 1 ? std::atoi(arguments[1]) : 24;
    int work = count > 2 ? std::atoi(arguments[2]) : 10000;
    int flushes = count > 3 ? std::atoi(arguments[3]) : 1;
    Server server;
    std::thread session([&] {
        for (int i = 0; i < statements; i++)
            server.sql_insert(1, i, work);
    });
    unsigned idle = 1;
    std::thread administrator([&] {
        for (int i = 0; i < flushes; i++) {
            idle = think(idle, work * statements / (flushes + 1));
            server.flush_logs();
        }
    });
    session.join();
    administrator.join();
    std::printf("%ld rows, %ld logged in %zu files (%08x)\n", server.rows(), server.logged(), server.files(), idle);
    if (server.rows() != server.logged()) {
        std::fprintf(stderr, "FAILED: rows were inserted without a trace\n");
        return 1;
    }
    return 0;
}
