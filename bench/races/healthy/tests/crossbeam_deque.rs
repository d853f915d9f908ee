use crossbeam_deque::{Injector, Steal, Worker};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

#[test]
fn stealing() {
    let (worker, injector) = (Worker::<Box<usize>>::new_lifo(), Injector::new());
    let stealer = worker.stealer();
    let taken = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while taken.load(Ordering::Relaxed) < 300 {
                    match stealer.steal() {
                        Steal::Success(value) => drop((taken.fetch_add(1, Ordering::Relaxed), value)),
                        _ => match injector.steal() {
                            Steal::Success(value) => {
                                let _: Box<usize> = value;
                                taken.fetch_add(1, Ordering::Relaxed);
                            }
                            _ => thread::yield_now(),
                        },
                    }
                }
            });
        }
        for i in 0..200 {
            worker.push(Box::new(i));
            if i % 2 == 0 {
                injector.push(Box::new(i));
            }
        }
        while let Some(value) = worker.pop() {
            taken.fetch_add(usize::from(*value < 200), Ordering::Relaxed);
        }
    });
}
