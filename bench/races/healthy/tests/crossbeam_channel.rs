use crossbeam_channel::{bounded, select, unbounded};
use std::thread;

#[test]
fn unbounded_list() {
    let (sender, receiver) = unbounded::<Box<u64>>();
    thread::scope(|scope| {
        for _ in 0..2 {
            let sender = sender.clone();
            scope.spawn(move || (0..100).for_each(|i| sender.send(Box::new(i)).unwrap()));
        }
        for _ in 0..2 {
            let receiver = receiver.clone();
            scope.spawn(move || receiver.iter().map(|value| *value).sum::<u64>());
        }
        drop(sender);
    });
}

#[test]
fn bounded_array_and_rendezvous() {
    let (sender, receiver) = bounded::<String>(4);
    let (answer, answers) = bounded::<usize>(0);
    thread::scope(|scope| {
        scope.spawn(move || {
            for text in receiver {
                answer.send(text.len()).unwrap();
            }
        });
        scope.spawn(move || (0..50).for_each(|i| sender.send("x".repeat(i)).unwrap()));
        let mut all = 0;
        loop {
            select! {
                recv(answers) -> one => match one { Ok(one) => all += one, Err(_) => break },
            }
        }
        assert_eq!(all, 49 * 25);
    });
}
