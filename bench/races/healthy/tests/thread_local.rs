use std::cell::Cell;
use std::thread;
use thread_local::ThreadLocal;

#[test]
fn values_of_threads() {
    let counts = ThreadLocal::<Cell<u32>>::new();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..20).for_each(|_| counts.get_or_default().set(counts.get_or_default().get() + 1)));
        }
    });
    assert_eq!(counts.into_iter().map(Cell::into_inner).sum::<u32>(), 80);
}

#[test]
fn seen_while_they_come() {
    let values = ThreadLocal::<u32>::new();
    thread::scope(|scope| {
        for i in 0..4 {
            let values = &values;
            scope.spawn(move || assert_eq!(*values.get_or(|| i), i));
        }
        scope.spawn(|| assert!(values.iter().count() <= 5));
    });
}
