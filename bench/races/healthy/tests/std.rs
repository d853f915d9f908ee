//! What std brings: precompiled parts have no hooks.
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Condvar, Mutex, OnceLock, RwLock, mpsc};
use std::thread;

#[test]
fn unbounded_channel() {
    let (sender, receiver) = mpsc::channel::<Vec<u32>>();
    let senders: Vec<_> = (0..3)
        .map(|number| {
            let sender = sender.clone();
            thread::spawn(move || (0..100).for_each(|i| sender.send(vec![number, i]).unwrap()))
        })
        .collect();
    drop(sender);
    assert_eq!(receiver.iter().map(|value| value.len()).sum::<usize>(), 600);
    senders.into_iter().for_each(|one| one.join().unwrap());
}

#[test]
fn bounded_channel() {
    let (sender, receiver) = mpsc::sync_channel::<String>(2);
    let worker = thread::spawn(move || receiver.iter().map(|text| text.len()).sum::<usize>());
    (0..100).for_each(|i| sender.send(format!("{i:3}")).unwrap());
    drop(sender);
    assert_eq!(worker.join().unwrap(), 300);
}

#[test]
fn scoped_threads_and_locks() {
    let (total, seen, bell) = (Mutex::new(0), RwLock::new(Vec::new()), Condvar::new());
    thread::scope(|scope| {
        for i in 0..4 {
            let (total, seen, bell) = (&total, &seen, &bell);
            scope.spawn(move || {
                *total.lock().unwrap() += i;
                seen.write().unwrap().push(i);
                bell.notify_all();
            });
        }
        let all = bell.wait_while(total.lock().unwrap(), |total| *total < 6).unwrap();
        assert_eq!(*all, 6);
    });
    assert_eq!(seen.into_inner().unwrap().len(), 4);
}

#[test]
fn barrier_once_and_arc() {
    static NAME: OnceLock<String> = OnceLock::new();
    let (barrier, count) = (Arc::new(Barrier::new(3)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let (barrier, count) = (barrier.clone(), count.clone());
            thread::spawn(move || {
                count.fetch_add(NAME.get_or_init(|| "name".to_owned()).len(), Ordering::Relaxed);
                barrier.wait();
                assert_eq!(count.load(Ordering::Relaxed), 12);
            })
        })
        .collect();
    threads.into_iter().for_each(|one| one.join().unwrap());
}
