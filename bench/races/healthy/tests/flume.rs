use std::thread;

#[test]
fn channels() {
    for (sender, receiver) in [flume::unbounded::<String>(), flume::bounded(2), flume::bounded(0)] {
        thread::scope(|scope| {
            for _ in 0..2 {
                let sender = sender.clone();
                scope.spawn(move || (0..50).for_each(|i| sender.send(format!("{i:2}")).unwrap()));
            }
            drop(sender);
            assert_eq!(receiver.iter().map(|text| text.len()).sum::<usize>(), 200);
        });
    }
}
