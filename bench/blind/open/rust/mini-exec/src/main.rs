//! A small executor for sensor tasks that are woken by device threads.

use std::collections::VecDeque;
use std::future::{poll_fn, Future};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

const SENSORS: u64 = 2;
const DEVICES: u64 = 2;
const EXECUTORS: usize = 2;
const READINGS: u64 = 10;

type BoxFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

struct Ready {
    tasks: VecDeque<Arc<Task>>,
    live: usize,
}

struct RunQueue {
    ready: Mutex<Ready>,
    changed: Condvar,
}

impl RunQueue {
    fn push(&self, task: Arc<Task>) {
        self.ready.lock().unwrap().tasks.push_back(task);
        self.changed.notify_one();
    }

    fn pop(&self) -> Option<Arc<Task>> {
        let mut ready = self.ready.lock().unwrap();
        while ready.live > 0 {
            if let Some(task) = ready.tasks.pop_front() {
                return Some(task);
            }
            ready = self.changed.wait(ready).unwrap();
        }
        None
    }

    fn finished(&self) {
        self.ready.lock().unwrap().live -= 1;
        self.changed.notify_all();
    }
}

struct Task {
    future: Mutex<Option<BoxFuture>>,
    queued: AtomicBool,
    queue: Arc<RunQueue>,
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) { // BUG: c
            let queue = Arc::clone(&self.queue);
            queue.push(self);
        }
    }
}

fn run(queue: &RunQueue) {
    while let Some(task) = queue.pop() {
        let mut slot = task.future.lock().unwrap();
        let Some(future) = slot.as_mut() else {
            continue;
        };
        #[cfg(feature = "fixed")]
        task.queued.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&task));
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker)); // BUG: d
        if polled.is_ready() {
            *slot = None;
            queue.finished();
        } else {
            #[cfg(not(feature = "fixed"))]
            task.queued.store(false, Ordering::Release); // BUG: a
        }
    }
}

#[derive(Default)]
struct Inbox {
    values: VecDeque<u64>,
    waker: Option<Waker>,
}

#[derive(Default)]
struct Sensor {
    inbox: Mutex<Inbox>,
    sum: AtomicU64,
}

impl Sensor {
    fn post(&self, value: u64) {
        let mut inbox = self.inbox.lock().unwrap();
        inbox.values.push_back(value);
        let waker = inbox.waker.take();
        drop(inbox);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn poll_next(&self, cx: &mut Context<'_>) -> Poll<u64> {
        let mut inbox = self.inbox.lock().unwrap();
        match inbox.values.pop_front() {
            Some(value) => Poll::Ready(value),
            None => {
                inbox.waker = Some(cx.waker().clone()); // BUG: b
                Poll::Pending
            }
        }
    }
}

async fn average(sensor: Arc<Sensor>) {
    for _ in 0..DEVICES * READINGS {
        let value = poll_fn(|cx| sensor.poll_next(cx)).await;
        sensor.sum.fetch_add(value, Ordering::Relaxed);
    }
}

fn measure(device: u64, n: u64) -> u64 {
    let mut v = device << 32 | n;
    for i in 0..8_000 + device * 1700 {
        v = (v ^ (v >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(i);
    }
    v % 1000
}

fn main() {
    let sensors: Vec<Arc<Sensor>> = (0..SENSORS).map(|_| Arc::default()).collect();
    let queue = Arc::new(RunQueue {
        ready: Mutex::new(Ready {
            tasks: VecDeque::new(),
            live: sensors.len(),
        }),
        changed: Condvar::new(),
    });
    for sensor in &sensors {
        let future: BoxFuture = Box::pin(average(Arc::clone(sensor)));
        queue.push(Arc::new(Task {
            future: Mutex::new(Some(future)),
            queued: AtomicBool::new(true),
            queue: Arc::clone(&queue),
        }));
    }

    let posted = AtomicU64::new(0);
    thread::scope(|s| {
        for _ in 0..EXECUTORS {
            s.spawn(|| run(&queue));
        }
        for device in 0..DEVICES {
            let (sensors, posted) = (&sensors, &posted);
            s.spawn(move || {
                for n in 0..SENSORS * READINGS {
                    let value = measure(device, n);
                    posted.fetch_add(value, Ordering::Relaxed);
                    sensors[(n % SENSORS) as usize].post(value);
                }
            });
        }
    });
    let summed: u64 = sensors.iter().map(|s| s.sum.load(Ordering::Relaxed)).sum();
    assert_eq!(summed, posted.into_inner());
    println!("sum {summed}");
}
