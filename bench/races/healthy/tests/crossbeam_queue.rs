use crossbeam_queue::{ArrayQueue, SegQueue};
use std::thread;

#[test]
fn array_queue() {
    let queue = ArrayQueue::<Box<u64>>::new(3);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for i in 0..100 {
                    let mut value = Box::new(i);
                    while let Err(back) = queue.push(value) {
                        value = back;
                        thread::yield_now();
                    }
                }
            });
            scope.spawn(|| {
                let mut taken = 0;
                while taken < 100 {
                    match queue.pop() {
                        Some(value) => taken += u64::from(*value < 100),
                        None => thread::yield_now(),
                    }
                }
            });
        }
    });
    assert!(queue.is_empty());
}

#[test]
fn segmented_queue() {
    let queue = SegQueue::<Vec<u64>>::new();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| (0..100).for_each(|i| queue.push(vec![i; 2])));
            scope.spawn(|| {
                let mut taken = 0;
                while taken < 100 {
                    match queue.pop() {
                        Some(value) => taken += value.len() / 2,
                        None => thread::yield_now(),
                    }
                }
            });
        }
    });
}
