#include <memory>
#include <thread>

namespace {

class Job {
public:
    virtual ~Job() { done_ = -1; }
    virtual void run() = 0;

protected:
    int done_ = 0;
};

class Print : public Job {
public:
    ~Print() override { done_ = 0; }
    void run() override { done_ = 1; }
};

} // namespace

int main() {
    std::unique_ptr<Job> job = std::make_unique<Print>();
    std::thread worker([&] { job->run(); });
    worker.join();
    job.reset();
}
