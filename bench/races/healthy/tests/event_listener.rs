use event_listener::{Event, Listener};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

#[test]
fn notified() {
    let (event, is_ready) = (Event::new(), AtomicBool::new(false));
    let mut value = 0_u32;
    let place = &mut value as *mut u32 as usize;
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_ready.load(Ordering::Acquire) {
                    let listener = event.listen();
                    if !is_ready.load(Ordering::Acquire) {
                        listener.wait();
                    }
                }
                // SAFETY: written before the flag, not afterwards.
                assert_eq!(unsafe { *(place as *const u32) }, 7);
            });
        }
        // SAFETY: nobody reads it before the flag is set.
        unsafe { *(place as *mut u32) = 7 };
        is_ready.store(true, Ordering::Release);
        event.notify(usize::MAX);
    });
}
