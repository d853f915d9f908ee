use arc_swap::ArcSwap;
use std::sync::Arc;
use std::thread;

#[test]
fn swapped() {
    let value = ArcSwap::from_pointee(vec![0_u64; 3]);
    thread::scope(|scope| {
        for number in 0..2 {
            let value = &value;
            scope.spawn(move || (0..50).for_each(|i| value.store(Arc::new(vec![number * 50 + i; 3]))));
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let now = value.load();
                    assert!(now.iter().all(|one| one == &now[0]));
                    assert_eq!(value.load_full().len(), 3);
                }
            });
        }
    });
}
