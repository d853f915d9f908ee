/* A growable string that threads share, each method of it under its lock. A writer appends the string of a form's
 * field to the answer of a server, while the form is being reset.
 *
 * Appending asks the other string for its length, makes room, and asks it for its characters: two critical sections.
 * A reset in between takes away the characters that the length has promised.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

namespace {

class StringBuffer {
public:
    explicit StringBuffer(const std::string &text) {
        ensure_capacity(text.size());
        std::memcpy(value_, text.data(), text.size());
        count_ = text.size();
    }
    ~StringBuffer() { std::free(value_); }
    StringBuffer(const StringBuffer &) = delete;
    StringBuffer &operator=(const StringBuffer &) = delete;

    size_t length() {
        std::lock_guard<std::mutex> held(lock_);
        return count_; /* BUG: 1 */
    }

    /* False: it has no such characters. */
    bool get_chars(size_t length, char *into) {
        std::lock_guard<std::mutex> held(lock_);
        const char *value = value_; /* BUG: 4 */
        if (value)
            std::memcpy(into, value, length);
        return value || length == 0;
    }

    /* Empties the string and gives its room back. */
    void reset() {
        std::lock_guard<std::mutex> held(lock_);
        std::free(value_);
        count_ = 0;       /* BUG: 2 */
        value_ = nullptr; /* BUG: 3 */
        capacity_ = 0;
    }

    /* Appends all of the other string; false if that did not have what it promised. */
    bool append(StringBuffer &other) {
#ifdef FIXED
        std::scoped_lock both(lock_, other.lock_);
        ensure_capacity(count_ + other.count_);
        if (other.count_ > 0)
            std::memcpy(value_ + count_, other.value_, other.count_);
        count_ += other.count_;
        return true;
#else
        size_t more = other.length();
        std::lock_guard<std::mutex> held(lock_);
        ensure_capacity(count_ + more);
        bool sound = other.get_chars(more, value_ + count_);
        count_ += sound ? more : 0;
        return sound;
#endif
    }

private:
    void ensure_capacity(size_t wanted) {
        if (wanted <= capacity_)
            return;
        char *larger = static_cast<char *>(std::malloc(wanted));
        if (count_ > 0)
            std::memcpy(larger, value_, count_);
        std::free(value_);
        value_ = larger;
        capacity_ = wanted;
    }

    std::mutex lock_;
    size_t count_ = 0;
    size_t capacity_ = 0;
    char *value_ = nullptr;
};

unsigned render(unsigned hash, int rounds) {
    for (int i = 0; i < rounds; i++)
        hash = (hash ^ static_cast<unsigned>(i)) * 16777619u;
    return hash;
}

struct Form {
    StringBuffer field{std::string(500, 'x')};
    unsigned layout = 1;

    void reset(int work) {
        layout = render(layout, work);
        field.reset();
    }
};

struct Answer {
    StringBuffer text;
    unsigned style = 2;

    explicit Answer(size_t length) : text(std::string(length, '.')) {}

    bool add_field(Form &form, int work) {
        style = render(style, work);
        return text.append(form.field);
    }
};

} // namespace

int main(int count, char **arguments) {
    int work = count > 1 ? std::atoi(arguments[1]) : 60000;
    size_t before = count > 2 ? static_cast<size_t>(std::atol(arguments[2])) : 60000;
    Form form;
    Answer answer(before);
    bool sound = true;
    std::thread writing([&] { sound = answer.add_field(form, work); });
    std::thread resetting([&] { form.reset(work); });
    writing.join();
    resetting.join();
    std::printf("%zu characters in the answer (%08x)\n", answer.text.length(), answer.style ^ form.layout);
    if (!sound) {
        std::fprintf(stderr, "FAILED: the field had no characters where its length said so\n");
        return 1;
    }
    return 0;
}
