use crossbeam_epoch::{self as epoch, Atomic, Owned};
use std::sync::atomic::Ordering;
use std::thread;

#[test]
fn swapped_and_reclaimed() {
    let value = Atomic::new(vec![0_u64; 4]);
    thread::scope(|scope| {
        for number in 0..2 {
            let value = &value;
            scope.spawn(move || {
                for i in 0..100 {
                    let guard = epoch::pin();
                    let old = value.swap(Owned::new(vec![number * 100 + i; 4]), Ordering::AcqRel, &guard);
                    // SAFETY: nobody finds it any more.
                    unsafe { guard.defer_destroy(old) };
                }
            });
        }
        scope.spawn(|| {
            for _ in 0..100 {
                let guard = epoch::pin();
                let now = value.load(Ordering::Acquire, &guard);
                // SAFETY: pinned.
                let now = unsafe { now.deref() };
                assert!(now.iter().all(|one| one == &now[0]));
            }
        });
    });
    // SAFETY: nobody else is left.
    drop(unsafe { value.into_owned() });
}
