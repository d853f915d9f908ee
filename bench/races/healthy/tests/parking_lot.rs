use parking_lot::{Condvar, Mutex, Once, RwLock};
use std::thread;

#[test]
fn locks() {
    static ONCE: Once = Once::new();
    let (count, names, bell) = (Mutex::new(0_u32), RwLock::new(Vec::new()), Condvar::new());
    thread::scope(|scope| {
        for i in 0..4_usize {
            let (count, names, bell) = (&count, &names, &bell);
            scope.spawn(move || {
                ONCE.call_once(|| names.write().push("first".to_owned()));
                for _ in 0..25 {
                    *count.lock() += 1;
                    names.write().push(i.to_string());
                    assert!(names.read().len() > 1);
                }
                bell.notify_one();
            });
        }
        let mut now = count.lock();
        while *now < 100 {
            bell.wait_for(&mut now, std::time::Duration::from_millis(10));
        }
    });
    assert_eq!(names.into_inner().len(), 101);
}
