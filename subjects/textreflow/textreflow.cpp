/* A frame of text in a browser window: which part of the document it shows is an offset and a length. When the
 * window gets smaller, the text is reflowed; the painter draws the frame meanwhile, on a thread of its own.
 *
 * Offset and length are read and written under the lock, one at a time. A frame that is painted in the middle of the
 * reflow has the new offset with the old length, and shows text that is not in the document.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace {

class Document {
public:
    explicit Document(size_t words) {
        for (size_t i = 0; i < words; i++)
            text_ += "word" + std::to_string(i) + (i % 9 == 8 ? '\n' : ' ');
    }
    const std::string &text() const { return text_; }

private:
    std::string text_;
};

class TextFrame {
public:
    explicit TextFrame(const Document &document) : document_(document), length_(document.text().size()) {}

    void reflow(size_t skipped_words) {
        size_t offset = 0;
        for (size_t i = 0; i < skipped_words; i++)
            offset = document_.text().find(' ', offset) + 1;
#ifdef FIXED
        std::lock_guard<std::mutex> whole(frame_);
#endif
        set_offset(offset);
        size_t lines = count_lines(offset);
        set_length(document_.text().size() - offset);
        std::lock_guard<std::mutex> held(lock_);
        lines_ = lines;
    }

    /* How many letters were drawn; zero if the frame has no such text. */
    size_t paint(unsigned &canvas) {
        size_t offset, length;
        {
#ifdef FIXED
            std::lock_guard<std::mutex> whole(frame_);
#endif
            offset = this->offset();
            length = this->length();
        }
        if (offset + length > document_.text().size())
            return 0;
        draw(std::string_view(document_.text()).substr(offset, length), canvas);
        return length;
    }

private:
    void set_offset(size_t offset) {
        std::lock_guard<std::mutex> held(lock_);
        offset_ = offset; /* BUG: 1 */
    }

    void set_length(size_t length) {
        std::lock_guard<std::mutex> held(lock_);
        length_ = length; /* BUG: 4 */
    }

    size_t length() {
        std::lock_guard<std::mutex> held(lock_);
        return length_; /* BUG: 3 */
    }

    size_t offset() {
        std::lock_guard<std::mutex> held(lock_);
        return offset_; /* BUG: 2 */
    }

    size_t count_lines(size_t offset) const {
        size_t lines = 0;
        while ((offset = document_.text().find('\n', offset) + 1) != 0)
            lines++;
        return lines;
    }

    /* Line by line. */
    static void draw(std::string_view text, unsigned &canvas) {
        while (!text.empty()) {
            size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
            canvas = canvas * 31 + static_cast<unsigned>(std::hash<std::string_view>()(text.substr(0, end)));
            text.remove_prefix(end);
        }
    }

    const Document &document_;
    std::mutex lock_;
#ifdef FIXED
    std::mutex frame_;
#endif
    size_t offset_ = 0;
    size_t length_ = 0;
    size_t lines_ = 0;
};

/* What the widgets around the text take. */
unsigned lay_out(unsigned place, int steps) {
    for (int i = 0; i < steps; i++)
        place = place * 22695477u + 1;
    return place;
}

} // namespace

int main(int count, char **arguments) {
    size_t words = count > 1 ? static_cast<size_t>(std::atol(arguments[1])) : 12000;
    int steps = count > 2 ? std::atoi(arguments[2]) : 120000;
    Document document(words);
    TextFrame frame(document);
    unsigned canvas = 1, width = 0;
    size_t drawn = 0;
    std::thread user([&] {
        width = lay_out(1, steps);
        frame.reflow(words / 3);
    });
    std::thread painter([&] {
        canvas = lay_out(canvas, steps);
        drawn = frame.paint(canvas);
    });
    user.join();
    painter.join();
    std::printf("width %u, canvas %08x\n", width % 2000, canvas);
    if (drawn == 0) {
        std::fprintf(stderr, "FAILED: the frame was painted with text that is not there\n");
        return 1;
    }
    return 0;
}
