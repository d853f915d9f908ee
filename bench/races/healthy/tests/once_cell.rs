use once_cell::race::OnceBox;
use once_cell::sync::{Lazy, OnceCell};
use std::thread;

#[test]
fn initialised_once() {
    static LAZY: Lazy<Vec<String>> = Lazy::new(|| vec!["a".to_owned(); 3]);
    static RACE: OnceBox<String> = OnceBox::new();
    let cell = OnceCell::new();
    thread::scope(|scope| {
        for i in 0..4 {
            let cell = &cell;
            scope.spawn(move || {
                assert_eq!(LAZY.len(), 3);
                let first: &String = cell.get_or_init(|| format!("{i}"));
                assert_eq!(first.len(), 1);
                assert_eq!(RACE.get_or_init(|| Box::new("both".to_owned())).len(), 4);
            });
        }
    });
}
