use concurrent_queue::ConcurrentQueue;
use std::thread;

#[test]
fn queues() {
    for queue in [ConcurrentQueue::<Box<u32>>::bounded(1), ConcurrentQueue::bounded(3), ConcurrentQueue::unbounded()] {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for i in 0..60 {
                        let mut value = Box::new(i);
                        while let Err(full) = queue.push(value) {
                            value = full.into_inner();
                            thread::yield_now();
                        }
                    }
                });
                scope.spawn(|| {
                    let mut taken = 0;
                    while taken < 60 {
                        match queue.pop() {
                            Ok(value) => taken += u32::from(*value < 60),
                            Err(_) => thread::yield_now(),
                        }
                    }
                });
            }
        });
    }
}
