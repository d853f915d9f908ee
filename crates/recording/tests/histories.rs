//! Location histories: exact bytes, placed pasts, separate lives.

use unpick_events::access::PastKind;
use unpick_events::kind::access_flags;
use unpick_events::{Kind, Past, Site, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Histories, Recording};

const A: ThreadId = ThreadId(1);
const B: ThreadId = ThreadId(2);
const C: ThreadId = ThreadId(3);

/// One line per life: bytes, block, then the accesses as `thread kind site`.
fn shown(writer: &Writer) -> Vec<String> {
    let recording = Recording::from_bytes(&writer.to_bytes(), "test").unwrap();
    let mut lines = Vec::new();
    for location in Histories::of(&recording).locations() {
        for life in &location.lives {
            let accesses: Vec<_> = life
                .accesses
                .iter()
                .map(|access| format!("{}{:?}{}", access.thread.0, access.kind, access.site.0))
                .collect();
            let block =
                life.block.map_or(String::new(), |block| format!(" of {:#x}", block.site.0));
            let bytes = &location.bytes;
            lines.push(format!(
                "{:#x}..{:#x}{block}: {}",
                bytes.start,
                bytes.end,
                accesses.join(" ")
            ));
        }
    }
    lines
}

fn past(thread: ThreadId, kind: PastKind, site: u32, ordinal: u32) -> Past {
    Past { kind, thread, site: Site(site), ordinal }
}

#[test]
fn a_wide_access_is_in_the_history_of_each_narrow_one_it_overlaps() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::Write, 0x10, 4).site(1));
    writer.write(B, Draft::access(Kind::Write, 0x14, 2).site(2));
    writer.write(C, Draft::access(Kind::Read, 0x10, 8).site(3));
    assert_eq!(
        shown(&writer),
        ["0x10..0x14: 1Write1 3Read3", "0x14..0x16: 2Write2 3Read3", "0x16..0x18: 3Read3"]
    );
}

#[test]
fn a_past_access_stands_after_the_events_its_thread_had_recorded() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::Read, 0x10, 1).site(1));
    writer.write(B, Draft::access(Kind::Read, 0x10, 1).site(2));
    writer.write(A, Draft::new(Kind::Acquire));
    // A reads again at site 7 after its lock, B at site 8 before anything else of its own.
    let write = Draft::access(Kind::Write, 0x10, 1).site(3);
    writer.write(C, write.past(past(A, PastKind::Read, 7, 2)).past(past(B, PastKind::Read, 8, 1)));
    assert_eq!(shown(&writer), ["0x10..0x11: 1Read1 2Read2 2Read8 1Read7 3Write3"]);
}

#[test]
fn a_past_access_that_two_events_list_happened_once() {
    let mut writer = Writer::new();
    let first = past(A, PastKind::Write, 5, 0);
    writer.write(B, Draft::access(Kind::Read, 0x10, 1).site(2).past(first));
    writer.write(C, Draft::access(Kind::Read, 0x10, 1).site(3).past(first));
    assert_eq!(shown(&writer), ["0x10..0x11: 1Write5 2Read2 3Read3"]);
}

#[test]
fn a_past_access_that_has_an_event_itself_happened_once() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::Write, 0x10, 1).site(5));
    writer
        .write(B, Draft::access(Kind::Read, 0x10, 1).site(2).past(past(A, PastKind::Write, 5, 1)));
    writer.write(A, Draft::new(Kind::Acquire));
    // The same site again, but after the lock: another access.
    writer
        .write(C, Draft::access(Kind::Write, 0x10, 1).site(3).past(past(A, PastKind::Write, 5, 2)));
    assert_eq!(shown(&writer), ["0x10..0x11: 1Write5 2Read2 1Write5 3Write3"]);
}

#[test]
fn parts_of_one_access_stand_once_in_a_history() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::Write, 0x10, 8).site(1));
    writer.write(A, Draft::access(Kind::Write, 0x14, 4).site(1).continued());
    assert_eq!(shown(&writer), ["0x10..0x14: 1Write1", "0x14..0x18: 1Write1"]);
}

#[test]
fn a_read_modify_write_is_a_read_then_a_write() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::ReadWrite, 0x10, 4).site(1));
    writer.write(B, Draft::access(Kind::ReadWrite, 0x10, 4).site(2));
    assert_eq!(shown(&writer), ["0x10..0x14: 1Read1 1Write1 2Read2 2Write2"]);
}

#[test]
fn a_reused_block_starts_a_life_and_a_use_after_free_stays_in_the_old_one() {
    let mut writer = Writer::new();
    let block =
        |serial: u64| Draft::new(Kind::Block).object(0x10).site(0xa).word(4).word(1 | serial << 32);
    writer.write(B, block(1));
    writer
        .write(B, Draft::access(Kind::Read, 0x10, 4).site(1).past(past(A, PastKind::Write, 9, 0)));
    writer.write(B, block(1));
    writer.write(A, Draft::access(Kind::Write, 0x10, 4).flags(access_flags::FREE).site(2));
    writer.write(B, Draft::access(Kind::Read, 0x10, 4).site(3));
    writer.write(A, block(2));
    writer.write(A, Draft::access(Kind::Write, 0x10, 4).site(4));
    assert_eq!(
        shown(&writer),
        ["0x10..0x14 of 0xa: 1Write9 2Read1 1Free2 2Read3", "0x10..0x14 of 0xa: 1Write4"]
    );
}

#[test]
fn a_stack_frame_that_is_gone_ends_the_life_of_its_bytes_only() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::Write, 0x10, 8).site(1));
    writer.write(A, Draft::new(Kind::StackGone).object(0x10).word(4));
    writer.write(B, Draft::access(Kind::Write, 0x10, 8).site(2));
    assert_eq!(
        shown(&writer),
        ["0x10..0x14: 1Write1", "0x10..0x14: 2Write2", "0x14..0x18: 1Write1 2Write2"]
    );
}

#[test]
fn a_frame_that_was_left_at_a_site_is_freed_there() {
    let mut writer = Writer::new();
    writer.write(A, Draft::new(Kind::StackGone).object(0x10).word(8).site(7));
    let after = |past| Draft::access(Kind::Read, 0x10, 4).site(3).past(past);
    writer.write(B, after(past(A, PastKind::Write, 7, 1)));
    writer
        .write(C, Draft::access(Kind::Read, 0x14, 4).site(4).past(past(A, PastKind::Write, 5, 1)));
    assert_eq!(
        shown(&writer),
        ["0x10..0x14: 1Free7 2Read3", "0x14..0x18: 1Write5 3Read4"],
        "other writes in the next life are writes"
    );
}

#[test]
fn accesses_in_step_are_in_the_histories_of_their_bytes_only() {
    let mut writer = Writer::new();
    writer.write(A, Draft::strided(Kind::Write, 0x10, 2, 3, 8).site(1));
    writer.write(B, Draft::strided(Kind::Read, 0x20, 2, 3, -8).site(2));
    writer.write(C, Draft::access(Kind::Read, 0x12, 6).site(3));
    assert_eq!(
        shown(&writer),
        [
            "0x10..0x12: 1Write1 2Read2",
            "0x12..0x18: 3Read3",
            "0x18..0x1a: 1Write1 2Read2",
            "0x20..0x22: 1Write1 2Read2"
        ]
    );
}

#[test]
fn four_billion_accesses_in_step_cost_only_what_is_looked_at() {
    let mut writer = Writer::new();
    writer.write(A, Draft::strided(Kind::Write, 0x10, 2, u32::MAX, 16).site(1));
    let recording = Recording::from_bytes(&writer.to_bytes(), "test").unwrap();
    assert_eq!(Histories::of(&recording).locations().take(1000).count(), 1000);
    let part = Histories::within(&recording, 0x1000_0001..0x1000_0031);
    let bytes: Vec<_> = part.locations().map(|location| location.bytes).collect();
    assert_eq!(
        bytes,
        [
            0x1000_0001..0x1000_0002,
            0x1000_0010..0x1000_0012,
            0x1000_0020..0x1000_0022,
            0x1000_0030..0x1000_0031
        ]
    );
}

#[test]
fn a_part_of_the_memory_can_be_asked_for() {
    let mut writer = Writer::new();
    writer.write(A, Draft::access(Kind::Write, 0x10, 8).site(1));
    let recording = Recording::from_bytes(&writer.to_bytes(), "test").unwrap();
    let histories = Histories::within(&recording, 0x12..0x14);
    let bytes: Vec<_> = histories.locations().map(|location| location.bytes).collect();
    assert!(bytes.iter().eq([&(0x12..0x14)]));
}
