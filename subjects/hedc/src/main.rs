//! A crawler that asks several archives for pictures taken on some day. All its tasks use one calendar to make a
//! date out of the number of a day, as that is costly to set up.
//!
//! The calendar is set, and then asked. Its fields are atomics, so nothing is torn; but it has one time only, and two
//! tasks that use it at once get each other's dates.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread;

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
        self.set(day);
        let prefix = format!("{archive}/day{day:06}/");
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
    first_day: u32,
    days: u32,
}

/// Asks the archive for every day of the task; returns the names of pictures and how many dates were wrong.
fn crawl(calendar: &Calendar, task: &Task, distance: u32) -> (Vec<String>, u32) {
    let mut pictures = Vec::new();
    let mut wrong = 0;
    for day in task.first_day..task.first_day + task.days {
        let answer = fetch(day, distance);
        let (date, prefix) = calendar.format(task.archive, day);
        wrong += u32::from(date != date_of(day));
        pictures.push(format!(
            "{prefix}{:04}-{:02}-{:02}/{answer:08x}",
            date.year, date.month, date.day
        ));
    }
    (pictures, wrong)
}

/// The network, which takes its time.
fn fetch(day: u32, distance: u32) -> u32 {
    std::hint::black_box(
        (0..distance).fold(day, |hash, step| (hash ^ step).wrapping_mul(0x0100_0193)),
    )
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let days = arguments.next().unwrap_or(20);
    let distance = arguments.next().unwrap_or(20_000);
    let calendar =
        Calendar { day: AtomicU32::new(0), uses: AtomicU64::new(0), turn: Mutex::new(()) };
    let tasks = [
        Task { archive: "rhessi", first_day: 730_000, days },
        Task { archive: "phoenix", first_day: 731_000, days },
        Task { archive: "goes", first_day: 725_000, days },
    ];
    let results: Vec<_> = thread::scope(|threads| {
        let calendar = &calendar;
        let crawlers: Vec<_> = tasks
            .iter()
            .map(|task| threads.spawn(move || crawl(calendar, task, distance)))
            .collect();
        crawlers.into_iter().map(|crawler| crawler.join().unwrap()).collect()
    });
    let pictures: usize = results.iter().map(|(pictures, _)| pictures.len()).sum();
    let wrong: u32 = results.iter().map(|(_, wrong)| wrong).sum();
    println!("{pictures} pictures, {} dates", calendar.uses.load(Ordering::Relaxed));
    if wrong > 0 {
        eprintln!("FAILED: {wrong} pictures have the date of another");
        std::process::exit(1);
    }
}
