//! The shortest round trip through some cities, by branch and bound: workers take first steps from a common list,
//! and the best trip so far tells which branches need not be followed.
//!
//! It never fails. The bound is read without the lock first and looked at again under it before it is changed: that
//! another worker improves it in between is an unserializable pattern, and costs only time.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CITIES: usize = 8;

struct Map {
    distances: [[u32; CITIES]; CITIES],
}

struct Search {
    bound: AtomicUsize,
    best_trip: Mutex<Vec<usize>>,
    next_branch: AtomicUsize,
    careful: Mutex<()>,
}

impl Map {
    fn scattered() -> Self {
        let place = |n: usize| ((n * 7919 % 101) as i32, (n * 104_729 % 97) as i32);
        let mut distances = [[0; CITIES]; CITIES];
        for (from, row) in distances.iter_mut().enumerate() {
            for (to, distance) in row.iter_mut().enumerate() {
                let ((x, y), (u, v)) = (place(from + 1), place(to + 1));
                *distance = (x - u).unsigned_abs() + (y - v).unsigned_abs();
            }
        }
        Self { distances }
    }

    fn length(&self, trip: &[usize]) -> usize {
        let steps: u32 = trip.windows(2).map(|step| self.distances[step[0]][step[1]]).sum();
        steps as usize
    }
}

impl Search {
    fn offer(&self, trip: &[usize], length: usize) {
        let mut best = self.best_trip.lock().unwrap();
        if length < self.bound.load(Ordering::SeqCst) {
            self.bound.store(length, Ordering::SeqCst);
            *best = trip.to_vec();
        }
    }

    fn extend(&self, map: &Map, trip: &mut Vec<usize>, length: usize) {
        let _one_by_one = cfg!(feature = "fixed").then(|| self.careful.lock().unwrap());
        if length >= self.bound.load(Ordering::SeqCst) {
            return;
        }
        drop(_one_by_one);
        let here = trip[trip.len() - 1];
        if trip.len() == CITIES {
            let length = length + map.distances[here][trip[0]] as usize;
            if length < self.bound.load(Ordering::SeqCst) {
                self.offer(trip, length);
            }
            return;
        }
        for city in 1..CITIES {
            if !trip.contains(&city) {
                trip.push(city);
                self.extend(map, trip, length + map.distances[here][city] as usize);
                trip.pop();
            }
        }
    }

    fn work(&self, map: &Map) {
        loop {
            let city = self.next_branch.fetch_add(1, Ordering::Relaxed);
            if city >= CITIES {
                return;
            }
            self.extend(map, &mut vec![0, city], map.distances[0][city] as usize);
        }
    }
}

fn shortest(map: &Map, workers: usize) -> (usize, Vec<usize>) {
    let search = Search {
        bound: AtomicUsize::new(usize::MAX),
        best_trip: Mutex::new(Vec::new()),
        next_branch: AtomicUsize::new(1),
        careful: Mutex::new(()),
    };
    thread::scope(|threads| {
        for _ in 0..workers {
            threads.spawn(|| search.work(map));
        }
    });
    (search.bound.into_inner(), search.best_trip.into_inner().unwrap())
}

fn main() {
    let workers = std::env::args().nth(1).map_or(3, |text| text.parse().expect("a number"));
    let map = Map::scattered();
    let (length, mut trip) = shortest(&map, workers);
    println!("{length} by {trip:?}");
    trip.push(0);
    assert_eq!(map.length(&trip), length, "the trip is as long as it is said to be");
    assert_eq!(shortest(&map, 1).0, length, "one worker alone finds none that is shorter");
}
