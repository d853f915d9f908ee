//! A crawler that asks several archives for pictures taken on some day. All its tasks use one calendar to make a
//! date out of the number of a day, as that is costly to set up.
//!
//! The calendar is set, and then asked. Its fields are atomics, so nothing is torn; but it has one time only, and two
//! tasks that use it at once get each other's dates.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use unpick_breakpoint::{Breakpoint, step, trigger};

/// Days since 1 March of year 0, the form in which dates are easy to compute with.
struct Calendar {
    day: AtomicU32,
    uses: AtomicU64,
    turn: Mutex<()>,
}

#[derive(PartialEq, Eq, Debug)]
struct Date {
    year: u32,
    month: u32,
    day: u32,
}

impl Calendar {
    fn set(&self, day: u32) {
        self.day.store(day, Ordering::SeqCst); /* BUG: 1, 2 */
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    fn date(&self) -> Date {
        let days = self.day.load(Ordering::SeqCst); /* BUG: 3 */
        date_of(days)
    }

    /// The date of a day, for the archive with this name.
    fn format(&self, archive: &str, day: u32) -> (Date, String) {
        let _turn = cfg!(feature = "fixed").then(|| self.turn.lock().unwrap());
        let step =
            step!(Breakpoint::atomicity("set-by-another", self).intruder().pause(Duration::ZERO));
        self.set(day);
        let intrudes = step.is_hit();
        step.done();
        let prefix = format!("{archive}/{:08x}/", fetch(day, 300));
        trigger!(Breakpoint::atomicity("set-by-another", self).gap().when(|| !intrudes).bound(1));
        (self.date(), prefix)
    }
}

fn date_of(days: u32) -> Date {
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + u32::from(month <= 2);
    Date { year, month, day: of_year - (153 * shifted + 2) / 5 + 1 }
}

struct Task {
    archive: &'static str,
    day: u32,
}

const TASKS: [Task; 8] = [
    Task { archive: "rhessi", day: 730_000 },
    Task { archive: "phoenix", day: 731_002 },
    Task { archive: "goes", day: 725_040 },
    Task { archive: "soho", day: 729_600 },
    Task { archive: "trace", day: 728_811 },
    Task { archive: "hinode", day: 732_090 },
    Task { archive: "nancay", day: 727_730 },
    Task { archive: "kitt-peak", day: 724_004 },
];

/// Asks the archive for the day of the task; returns the name of the picture and whether its date is right.
fn crawl(calendar: &Calendar, task: &Task, distance: u32) -> (String, bool) {
    let answer = fetch(task.day, distance);
    let (date, prefix) = calendar.format(task.archive, task.day);
    let right = date == date_of(task.day);
    (format!("{prefix}{:04}-{:02}-{:02}/{answer:08x}", date.year, date.month, date.day), right)
}

/// The number of what the network brings, which takes its time.
fn fetch(day: u32, distance: u32) -> u32 {
    std::hint::black_box(
        (0..distance).fold(day, |hash, step| (hash ^ step).wrapping_mul(0x0100_0193)),
    )
}

fn main() {
    let distance = std::env::args().nth(1).map_or(8000, |text| text.parse().expect("a number"));
    let calendar =
        Calendar { day: AtomicU32::new(0), uses: AtomicU64::new(0), turn: Mutex::new(()) };
    let all_here = Barrier::new(TASKS.len());
    let results: Vec<_> = thread::scope(|threads| {
        let calendar = &calendar;
        let all_here = &all_here;
        let crawl = |task| {
            threads.spawn(move || {
                all_here.wait();
                crawl(calendar, task, distance)
            })
        };
        let crawlers: Vec<_> = TASKS.iter().map(crawl).collect();
        crawlers.into_iter().map(|crawler| crawler.join().unwrap()).collect()
    });
    let letters: usize = results.iter().map(|(picture, _)| picture.len()).sum();
    let wrong = results.iter().filter(|(_, right)| !right).count();
    println!("{letters} letters, {} dates", calendar.uses.load(Ordering::Relaxed));
    if wrong > 0 {
        eprintln!("FAILED: {wrong} pictures have the date of another");
        std::process::exit(1);
    }
}
