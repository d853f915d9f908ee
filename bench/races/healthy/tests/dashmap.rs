use dashmap::DashMap;
use std::thread;

#[test]
fn shared_map() {
    let map = DashMap::<u32, String>::new();
    thread::scope(|scope| {
        for number in 0..3 {
            let map = &map;
            scope.spawn(move || {
                for i in 0..60 {
                    map.insert(i % 20, format!("{number} {i}"));
                    map.entry(i % 7).or_default().push('x');
                    assert!(map.get(&(i % 20)).is_some_and(|one| !one.is_empty()));
                }
            });
        }
    });
    assert_eq!(map.len(), 20);
}
