/* A user interface: the program changes what is shown and says which regions are dirty; the event thread paints them.
 * The repaint manager has a lock, and so has the caret of the text field.
 *
 * Regions are added in many contexts: labels, progress bars, the caret. Only the caret has its own lock while it adds
 * one. The event thread holds the lock of the repaint manager while it paints, and the caret locks itself to be
 * painted. When the caret moves just then, both wait for ever.
 */
#include "../../crates/breakpoint/include/unpick.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

static unsigned work(unsigned seed, int rounds) {
    for (int i = 0; i < rounds; i++)
        seed = (seed ^ (seed >> 15)) * 2246822519u + 1u;
    return seed;
}

#ifdef UNPICK_BREAKPOINTS
#include <atomic>
/* Carets that the event thread still has to paint. */
static std::atomic<int> dirty_carets;
#define COUNT_CARETS(more) (dirty_carets += (more))
#else
#define COUNT_CARETS(more) ((void)0)
#endif

enum Component { LABEL, PROGRESS_BAR, CARET };

struct Region {
    Component component;
    int x, width;
};

class BasicCaret;

class RepaintManager {
  public:
    void add_dirty_region0(Component component, int x, int width) {
        /* Only if the event thread still has a caret to paint will it come to meet this one. */
        UNPICK_TRIGGER(rendezvous("moved-while-painted"), first(), lock_held("caret"), when(dirty_carets > 0));
        std::lock_guard<std::mutex> alone(lock_); /* BUG: 2 */
        dirty_.push_back({component, x, width});
        COUNT_CARETS(component == CARET);
    }

    unsigned paint_dirty_regions(BasicCaret &caret);

  private:
    std::mutex lock_;
    std::vector<Region> dirty_;
};

class BasicCaret {
  public:
    void move_to(RepaintManager &manager, int dot) {
#ifdef FIXED
        int old;
        {
            std::lock_guard<std::mutex> alone(caret_lock_);
            old = dot_;
            dot_ = dot;
        }
        manager.add_dirty_region0(CARET, old, 2);
#else
        std::lock_guard<std::mutex> alone(caret_lock_); /* BUG: 1 */
        UNPICK_HOLDING("caret");
        int old = dot_;
        dot_ = dot;
        manager.add_dirty_region0(CARET, old, 2);
        UNPICK_RELEASED("caret");
#endif
    }

    unsigned paint() {
        UNPICK_TRIGGER(rendezvous("moved-while-painted"), second(), pause_ms(5));
        std::lock_guard<std::mutex> alone(caret_lock_); /* BUG: 4 */
        return work(static_cast<unsigned>(dot_), 200);
    }

  private:
    std::mutex caret_lock_;
    int dot_ = 0;
};

unsigned RepaintManager::paint_dirty_regions(BasicCaret &caret) {
    std::lock_guard<std::mutex> alone(lock_); /* BUG: 3 */
    unsigned screen = 0;
    for (const Region &region : dirty_) {
        if (region.component == CARET) {
            screen ^= caret.paint();
            COUNT_CARETS(-1);
        } else
            screen ^= work(static_cast<unsigned>(region.x + region.width), 200);
    }
    dirty_.clear();
    return screen;
}

static RepaintManager manager;
static BasicCaret caret;

/* Loads a document: progress and label change all the time, the caret goes to the end of what is there by page. */
static void load_document(int lines) {
    UNPICK_TRIGGER(rendezvous("both-at-work"), first());
    for (int line = 0; line < lines; line++) {
        unsigned text = work(static_cast<unsigned>(line), 4000);
        if (line % 8 == 4)
            caret.move_to(manager, line);
        manager.add_dirty_region0(PROGRESS_BAR, line, 1);
        if (text % 4 == 0)
            manager.add_dirty_region0(LABEL, 0, 80);
    }
}

static void event_thread(int frames, unsigned *screen) {
    UNPICK_TRIGGER(rendezvous("both-at-work"), second());
    for (int frame = 0; frame < frames; frame++) {
        *screen ^= work(static_cast<unsigned>(frame), 30000);
        *screen ^= manager.paint_dirty_regions(caret);
    }
}

int main(int count, char **arguments) {
    int lines = count > 1 ? std::atoi(arguments[1]) : 400;
    int frames = count > 2 ? std::atoi(arguments[2]) : 60;
    unsigned screen = 0;
    std::thread painting(event_thread, frames, &screen);
    load_document(lines);
    painting.join();
    std::printf("%d lines in %d frames, screen %08x\n", lines, frames, screen);
    return 0;
}
