#include <semaphore.h>
#include <thread>

namespace {

/* The destructor waits until nobody uses the object any more; but it has changed the class of the object before that. */
class Job {
public:
    Job() { sem_init(&done_, 0, 0); }
    virtual ~Job() { /* RACE */
        sem_wait(&done_);
        sem_destroy(&done_);
    }
    virtual void run() { finish(); }

protected:
    void finish() { sem_post(&done_); }

private:
    sem_t done_;
};

class Print : public Job {
public:
    ~Print() override { printed_ = 0; }
    void run() override { finish(); }

private:
    int printed_ = 0;
};

} // namespace

int main() {
    Job *job = new Print;
    std::thread worker([=] { job->run(); }); /* RACE */
    delete job;
    worker.join();
}
