/* Scripts of web pages, as one browser loads them: the script that is on its way is known to one handler for all
 * windows. The user interface is an event loop: an event starts a load, and another one, some events later, finds it
 * complete and compiles it. Meanwhile a thread takes down a window that was closed.
 *
 * The handler's every access is in a critical section, so there is no race. But start and completion are two of
 * them, and the thread that takes the window down clears the handler without asking whose script is in it.
 */
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

unsigned mix(unsigned hash, unsigned value) { return (hash ^ value) * 16777619u; }

struct Script {
    int window;
    std::string text;
    unsigned code = 0;
};

class ScriptHandler {
public:
    void load_script(Script *script) {
        std::lock_guard<std::mutex> held(lock_);
        script_ = script; /* BUG: 1 */
        loads_++;
    }

    /* False: there is nothing that could be compiled. */
    bool on_load_complete() {
        std::lock_guard<std::mutex> held(lock_);
        Script *script = script_; /* BUG: 3 */
        if (!script)
            return false;
        for (unsigned char letter : script->text)
            script->code = mix(script->code, letter);
        return true;
    }

    /* The window is gone, its script is not wanted any more. */
    void cancel(int window) {
        std::lock_guard<std::mutex> held(lock_);
        cancelled_.push_back(window);
#ifdef FIXED
        if (!script_ || script_->window != window)
            return;
#endif
        script_ = nullptr; /* BUG: 2 */
    }

    long loads() const { return loads_; }

private:
    std::mutex lock_;
    Script *script_ = nullptr;
    std::vector<int> cancelled_;
    long loads_ = 0;
};

class EventLoop {
public:
    void post(std::function<void()> event) { events_.push_back(std::move(event)); }

    void run() {
        while (!events_.empty()) {
            std::function<void()> event = std::move(events_.front());
            events_.pop_front();
            event();
        }
    }

private:
    std::deque<std::function<void()>> events_;
};

class Window {
public:
    Window(ScriptHandler &handler, int number) : handler_(handler), number_(number) {}

    void add_script(const std::string &text) { scripts_.push_back({number_, text}); }

    /* What the user interface will have to do for this page, in this order. */
    void queue_page(EventLoop &loop, int paint_work) {
        for (Script &script : scripts_) {
            for (int i = 0; i < 6; i++)
                loop.post([this, paint_work] { paint(paint_work); });
            loop.post([this, &script] { load(script); });
            loop.post([this, paint_work] { paint(paint_work); });
            loop.post([this] { complete(); });
        }
    }

    /* Tears down all that was shown. */
    void take_down(int work) {
        paint(work);
        handler_.cancel(number_);
    }

    int missing() const { return missing_; }
    unsigned picture() const { return picture_; }

private:
    /* A script may need those before it: where one is missing, the page is given up. */
    void load(Script &script) {
        if (missing_ == 0)
            handler_.load_script(&script);
    }

    void complete() {
        if (missing_ == 0)
            missing_ += !handler_.on_load_complete();
    }

    void paint(int work) {
        for (int i = 0; i < work; i++)
            picture_ = mix(picture_, static_cast<unsigned>(i));
    }

    ScriptHandler &handler_;
    int number_;
    std::vector<Script> scripts_;
    int missing_ = 0;
    unsigned picture_ = 2166136261u;
};

} // namespace

int main(int count, char **arguments) {
    int scripts = count > 1 ? std::atoi(arguments[1]) : 8;
    int paint_work = count > 2 ? std::atoi(arguments[2]) : 4000;
    ScriptHandler handler;
    Window open(handler, 1), closed(handler, 2);
    for (int i = 0; i < scripts; i++)
        open.add_script("function button" + std::to_string(i) + "() { alert('pressed'); }");
    EventLoop loop;
    open.queue_page(loop, paint_work);
    std::thread interface([&] { loop.run(); });
    std::thread closing([&] { closed.take_down(paint_work * scripts * 3); });
    interface.join();
    closing.join();
    std::printf("%ld scripts loaded, picture %08x\n", handler.loads(), open.picture() ^ closed.picture());
    if (open.missing() > 0) {
        std::fprintf(stderr, "FAILED: a script was not there when its load was complete\n");
        return 1;
    }
    return 0;
}
