//! A hang in one sentence: the circle of a deadlock, how a notification was lost, or what each thread is doing.

use super::{Activity, HangProcess, HangThread, HangWait, WaitedFor, lost};
use crate::names::Frame;

/// Without a deadlock, so many threads are told.
const MOST_THREADS: usize = 4;

pub fn sentence(processes: &[HangProcess]) -> String {
    let mut circles: Vec<String> = processes.iter().flat_map(of_circles).collect();
    // Several processes of one program have the same one.
    circles.dedup();
    if !circles.is_empty() {
        return circles.join("; ");
    }
    if let Some(lost) = processes.iter().find_map(lost::sentence) {
        return lost;
    }
    let has_several = processes.len() > 1;
    let mut told: Vec<String> = Vec::new();
    for process in processes {
        let of_process =
            if has_several { format!(" of process {}", process.process) } else { String::new() };
        told.extend(process.threads.iter().map(|thread| of_thread(thread, &of_process)));
    }
    let count = told.len();
    told.truncate(MOST_THREADS);
    match count.saturating_sub(MOST_THREADS) {
        0 => {}
        1 => told.push("and 1 more thread".to_owned()),
        more => told.push(format!("and {more} more threads")),
    }
    if told.is_empty() { "nothing is known of its threads".to_owned() } else { told.join("; ") }
}

fn of_circles(process: &HangProcess) -> Vec<String> {
    let find = |&number: &u16| process.threads.iter().find(|thread| thread.thread == number);
    let circles = process.deadlocks.iter().map(|circle| {
        let members: Vec<&HangThread> = circle.iter().filter_map(find).collect();
        of_circle(&members)
    });
    circles.collect()
}

/// `thread 2 waits for a at x.c:1, held by thread 3, which waits for b at x.c:2, held by thread 2: a deadlock`.
fn of_circle(members: &[&HangThread]) -> String {
    let mut text = String::new();
    for (at, member) in members.iter().enumerate() {
        let next = members[(at + 1) % members.len()];
        let subject =
            if at == 0 { format!("thread {}", member.thread) } else { ", which".to_owned() };
        text += &format!("{subject} {}{}", does(member), held_by(member, next));
    }
    text + ": a deadlock"
}

fn held_by(member: &HangThread, holder: &HangThread) -> String {
    let is_lock = member.waits_for.as_ref().is_some_and(|wait| wait.what == WaitedFor::Lock);
    match (is_lock, member.thread == holder.thread) {
        (false, _) => String::new(),
        (true, true) => ", which it holds itself".to_owned(),
        (true, false) => format!(", held by thread {}", holder.thread),
    }
}

fn of_thread(thread: &HangThread, of_process: &str) -> String {
    let holders = match &thread.waits_for {
        Some(HangWait { what: WaitedFor::Lock, threads, .. }) if !threads.is_empty() => {
            let numbers: Vec<String> = threads.iter().map(u16::to_string).collect();
            format!(", held by thread {}", numbers.join(" and "))
        }
        _ => String::new(),
    };
    format!("thread {}{of_process} {}{holders}", thread.thread, does(thread))
}

/// `waits for log.lock at log.c:22`, `runs in spin at spin.c:7`.
pub fn does(thread: &HangThread) -> String {
    let place = place(&thread.frame).map(|place| format!(" at {place}")).unwrap_or_default();
    if let Some(wait) = &thread.waits_for {
        return format!("waits for {}{place}", wait.object());
    }
    let verb = match (thread.is_now, thread.activity) {
        (false, _) => "was last seen",
        (true, Activity::Running) => "runs",
        (true, Activity::Sleeping) => "sleeps",
        (true, Activity::Unknown) => "is",
    };
    match &thread.frame.function {
        Some(function) => format!("{verb} in {function}{place}"),
        None if place.is_empty() => format!("{verb} in code that is not known"),
        None => format!("{verb}{place}"),
    }
}

/// `bank.c:31`: whoever reads this knows the program.
pub fn place(frame: &Frame) -> Option<String> {
    let file = frame.file.as_deref()?;
    let name = file.rsplit('/').next().unwrap_or(file);
    Some(frame.line.map_or(name.to_owned(), |line| format!("{name}:{line}")))
}

/// `log.lock` of `log.lock (heap, allocated at log.c:3)`.
pub fn without_origin(name: &str) -> &str {
    let origin = [" (heap, ", " (static in "].iter().find_map(|start| name.rfind(start));
    origin.map_or(name, |at| &name[..at])
}

impl HangWait {
    /// What is waited for: `cache.lock`, `a mutex`, `the end of thread 2`, `condition ready`.
    pub fn object(&self) -> String {
        let lock_kind = match self.lock_kind.as_deref() {
            Some("rust") | None => "lock",
            Some(kind) => kind,
        };
        let kind = match self.what {
            WaitedFor::Lock => lock_kind,
            WaitedFor::Condition => "condition",
            WaitedFor::Barrier => "barrier",
            WaitedFor::Semaphore => "semaphore",
            WaitedFor::Once => "once",
            WaitedFor::Futex => "futex",
            WaitedFor::Unpark => return "an unpark".to_owned(),
            WaitedFor::End => {
                let thread = self.threads.first().copied().unwrap_or_default();
                return format!("the end of thread {thread}");
            }
        };
        match (&self.name, self.what) {
            (Some(name), WaitedFor::Lock) => without_origin(name).to_owned(),
            (Some(name), _) => format!("{kind} {}", without_origin(name)),
            (None, _) => format!("a {kind}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(number: u16, wait: Option<HangWait>, line: u32) -> HangThread {
        let function = Some("work".to_owned());
        let file = Some("src/a.c".into());
        let frame = Frame { function, file, line: Some(line), column: None };
        let sleeping = HangThread::sleeping_at(frame, number, wait);
        HangThread { activity: Activity::Running, ..sleeping }
    }

    fn lock(name: &str, holder: u16) -> Option<HangWait> {
        let (name, threads) = (Some(name.to_owned()), vec![holder]);
        Some(HangWait { name, threads, ..HangWait::new(WaitedFor::Lock) })
    }

    fn told(deadlocks: &[&[u16]], threads: Vec<HangThread>) -> String {
        let deadlocks = deadlocks.iter().map(|circle| circle.to_vec()).collect();
        sentence(&[HangProcess { process: 1, deadlocks, threads, lost: None }])
    }

    #[test]
    fn a_deadlock_is_told_round_its_circle() {
        let threads = vec![
            thread(1, Some(HangWait { threads: vec![2], ..HangWait::new(WaitedFor::End) }), 9),
            thread(2, lock("b", 3), 1),
            thread(3, lock("a", 2), 2),
        ];
        assert_eq!(
            told(&[&[2, 3]], threads),
            "thread 2 waits for b at a.c:1, held by thread 3, which waits for a at a.c:2, held by thread 2: a deadlock"
        );
    }

    #[test]
    fn a_thread_can_be_in_its_own_way() {
        let text = told(&[&[2]], vec![thread(2, lock("b (heap, allocated at a.c:3)", 2), 1)]);
        assert_eq!(text, "thread 2 waits for b at a.c:1, which it holds itself: a deadlock");
    }

    #[test]
    fn without_a_deadlock_each_thread_is_told_up_to_a_few() {
        let end = HangWait { threads: vec![2], ..HangWait::new(WaitedFor::End) };
        let mut threads = vec![thread(1, Some(end), 9)];
        threads.extend((2..8).map(|number| thread(number, None, 3)));
        assert_eq!(
            told(&[], threads),
            "thread 1 waits for the end of thread 2 at a.c:9; thread 2 runs in work at a.c:3; \
             thread 3 runs in work at a.c:3; thread 4 runs in work at a.c:3; and 3 more threads"
        );
    }
}
