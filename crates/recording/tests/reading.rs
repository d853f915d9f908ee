//! The reader on files that are whole, cut, foreign and damaged.

use unpick_events::access::PastKind;
use unpick_events::file::{FORMAT_VERSION, chunk_field, file_field, lost};
use unpick_events::{Context, Kind, Past, Site, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Action, Cancellation, Cancelled, Histories, Recording};

const MAIN: ThreadId = ThreadId(1);
const WORKER: ThreadId = ThreadId(2);
const FIRST_CHUNK: usize = 4096;

fn read(bytes: &[u8]) -> Recording {
    Recording::from_bytes(bytes, "test.events").expect("a readable recording")
}

fn problem(bytes: &[u8]) -> String {
    Recording::from_bytes(bytes, "test.events").expect_err("a problem").to_string()
}

fn many_events(per_thread: u64) -> Writer {
    let mut writer = Writer::new();
    for round in 0..per_thread {
        writer.write(MAIN, Draft::access(Kind::Write, 0x1000 + round, 1).site(1));
        writer.write(WORKER, Draft::access(Kind::Read, 0x1000 + round, 1).site(2));
    }
    writer
}

fn set(bytes: &mut [u8], offset: usize, value: &[u8]) {
    bytes[offset..offset + value.len()].copy_from_slice(value);
}

fn stamps(recording: &Recording) -> Vec<u32> {
    recording.events().map(|event| event.stamp).collect()
}

#[test]
fn events_of_all_threads_come_back_in_the_order_they_happened() {
    let recording = read(&many_events(1000).to_bytes());
    assert_eq!(stamps(&recording), (1..=2000).collect::<Vec<_>>());
    assert_eq!(recording.event_count(), 2000);
    assert!(recording.is_complete(), "{:?}", recording.damage());
    let ordinals = recording.stream(WORKER).map(|event| event.ordinal);
    assert!(ordinals.eq(0..1000), "ordinals go on over chunks");
}

#[test]
fn an_event_without_stamp_follows_the_stamped_one_of_its_thread() {
    let mut writer = Writer::new();
    writer.write(WORKER, Draft::new(Kind::ThreadStart).object(1).word(5));
    writer.write(MAIN, Draft::new(Kind::Acquire).object(0x10));
    writer.write(WORKER, Draft::new(Kind::Delay).object(7).unstamped());
    writer.write(MAIN, Draft::new(Kind::Delay).object(9).unstamped());
    let recording = read(&writer.to_bytes());
    let kinds: Vec<_> = recording.events().map(|event| (event.thread.0, event.kind())).collect();
    let expected = [(2, Kind::ThreadStart), (2, Kind::Delay), (1, Kind::Acquire), (1, Kind::Delay)];
    assert_eq!(kinds, expected);
}

#[test]
fn an_event_that_makes_no_sense_is_skipped_and_keeps_its_ordinal() {
    let mut writer = Writer::new();
    writer.write(MAIN, Draft::new(Kind::Exec));
    let without_its_time = Draft::new(Kind::ThreadEnd);
    writer.write(MAIN, without_its_time);
    writer.write(MAIN, Draft::new(Kind::Exec));
    let recording = read(&writer.to_bytes());
    assert!(recording.events().map(|event| event.ordinal).eq([0, 2]));
    assert_eq!(recording.damage(), ["1 events of chunk 0 of thread 1 make no sense"]);
}

#[test]
fn facts_modules_stacks_and_threads_are_found() {
    let mut writer = Writer::new();
    writer.write(MAIN, Draft::new(Kind::ThreadStart).word(100));
    writer.write(MAIN, Draft::new(Kind::Fact).text("compiler").text("gcc 12").unstamped());
    let module = Draft::new(Kind::Module).object(0x5000).word(0x5000).word(0x1000);
    writer.write(MAIN, module.text("c0ffee").text("/bin/bank"));
    writer.write(MAIN, Draft::new(Kind::ModuleGone).object(0x5000));
    writer.write(MAIN, Draft::new(Kind::Stack).context(77).call_sites(&[0x5010, 0x5020, 0x5030]));
    writer.write(WORKER, Draft::new(Kind::ThreadStart).object(1).word(150));
    writer.write(WORKER, Draft::new(Kind::ThreadEnd).word(200));
    let recording = read(&writer.to_bytes());

    assert_eq!(recording.facts(), [("compiler".to_owned(), "gcc 12".to_owned())]);
    let module = &recording.modules()[0];
    assert_eq!((module.path.as_str(), module.build_id.as_str()), ("/bin/bank", "c0ffee"));
    assert!(module.gone);
    assert_eq!(recording.place_of(Site(0x5010)).map(|(_, address)| address), Some(0x5010));
    let stack = recording.stacks().get(Context(77)).unwrap();
    assert_eq!(stack, [Site(0x5010), Site(0x5020), Site(0x5030)]);
    let worker = &recording.threads()[1];
    assert_eq!((worker.creator, worker.started, worker.ended), (Some(MAIN), Some(150), Some(200)));
}

#[test]
fn a_site_lies_in_the_code_of_a_module_not_in_the_data_of_another() {
    let module = |lowest: u64, length: u64, code: [u64; 2], path| {
        let module = Draft::new(Kind::Module).object(lowest).word(lowest).word(length);
        module.text("").text(path).word(code[0]).word(code[1])
    };
    let mut writer = Writer::new();
    let program = module(0x5555_0000_0000, 0x0200_0000, [0x5555_0000_1000, 0x1000], "/bin/bank");
    writer.write(MAIN, program);
    let library =
        module(0x7fff_0100_0000, 0x3000, [0x7fff_0100_1000, 0x1000], "/lib/libgcc_s.so.1");
    writer.write(MAIN, library);
    let outside = module(0x1000, 0x1000, [0x800, 0x100], "/lib/damaged.so");
    writer.write(MAIN, outside);
    let recording = read(&writer.to_bytes());

    let place =
        |site| recording.place_of(Site(site)).map(|(module, at)| (module.path.as_str(), at));
    assert_eq!(place(0x0000_1800), Some(("/bin/bank", 0x5555_0000_1800)));
    assert_eq!(place(0x0100_1800), Some(("/lib/libgcc_s.so.1", 0x7fff_0100_1800)));
    assert_eq!(place(0x0000_0800), None, "its code does not lie in it: the event makes no sense");
    assert_eq!(recording.damage(), ["1 events of chunk 0 of thread 1 make no sense"]);
}

#[test]
fn a_long_access_and_its_past_come_back() {
    let past = Past { kind: PastKind::Write, thread: MAIN, site: Site(9), ordinal: 3 };
    let mut writer = Writer::new();
    writer.write(WORKER, Draft::access(Kind::Read, 0x1000, 1 << 20).past(past));
    let recording = read(&writer.to_bytes());
    let event = recording.events().next().unwrap();
    let Action::Access { length, pasts, .. } = event.action else { panic!("{event:?}") };
    assert_eq!(length, 1 << 20);
    assert!(pasts.iter().eq([past]));
}

#[test]
fn foreign_files_and_other_versions_are_refused_with_the_next_step() {
    let whole = many_events(1).to_bytes();
    assert!(problem(b"").contains("it is empty"));
    assert!(problem(&[0; 9000]).contains("its header was never written"));
    assert!(problem(b"\x7fELF and so on").contains("not an Unpick recording"));
    assert!(problem(&whole[..100]).contains("it is cut short"));

    let mut newer = whole.clone();
    set(&mut newer, file_field::VERSION, &(FORMAT_VERSION + 1).to_le_bytes());
    assert!(problem(&newer).contains("newer runtime"), "even though the checksum is another one");
    let mut older = whole.clone();
    set(&mut older, file_field::VERSION, &0_u32.to_le_bytes());
    assert!(problem(&older).contains("too old"));

    let mut damaged = whole;
    damaged[file_field::SEED] ^= 1;
    assert!(problem(&damaged).contains("checksum"));
    assert!(problem(&damaged).contains("next:"));
}

#[test]
fn a_file_that_is_missing_or_a_folder_is_a_problem() {
    let folder = tempfile::tempdir().unwrap();
    let missing = Recording::open(folder.path().join("1-0.events")).unwrap_err();
    assert!(missing.to_string().contains("cannot be opened"));
    let folder = Recording::open(folder.path()).unwrap_err();
    assert!(folder.to_string().contains("not a file"));
}

#[test]
fn a_cut_file_gives_the_events_before_the_cut() {
    let whole = many_events(1000).to_bytes();
    let recording = read(&whole[..FIRST_CHUNK + 3 * 4096 + 100]);
    assert!(recording.damage()[0].contains("cut short"), "{:?}", recording.damage());
    assert!(recording.event_count() > 300);
    assert!(!recording.is_complete());
}

#[test]
fn a_damaged_event_ends_its_chunk_but_not_the_stream() {
    let mut bytes = many_events(1000).to_bytes();
    set(&mut bytes, FIRST_CHUNK + 32 + 24 * 10, &[0x77; 8]);
    let recording = read(&bytes);
    let ordinals: Vec<_> = recording.stream(MAIN).map(|event| event.ordinal).collect();
    assert_eq!(ordinals[..10], (0..10).collect::<Vec<_>>());
    assert_eq!(*ordinals.last().unwrap(), 999, "later chunks are read");
    assert!(recording.damage().iter().any(|note| note.contains("is damaged after byte 4368")));
    assert!(recording.damage().iter().any(|note| note.contains("events of 0 chunks are missing")));
}

#[test]
fn damaged_missing_doubled_and_contradicting_chunks_are_passed_over() {
    let whole = many_events(1000).to_bytes();

    let mut headless = whole.clone();
    headless[FIRST_CHUNK] ^= 1;
    let recording = read(&headless);
    assert!(recording.damage()[0].contains("no chunk can be recognised in bytes 4096 to 8192"));
    assert!(recording.stream(MAIN).next().unwrap().ordinal > 0);

    let mut doubled = whole.clone();
    let third = FIRST_CHUNK + 2 * 4096;
    set(&mut doubled, third + chunk_field::SEQUENCE, &0_u32.to_le_bytes());
    assert!(read(&doubled).damage()[0].contains("is there twice"));

    let mut contradicting = whole.clone();
    set(&mut contradicting, third + chunk_field::FIRST_ORDINAL, &3_u64.to_le_bytes());
    assert!(read(&contradicting).damage()[0].contains("repeats the numbers"));

    let mut insane = whole.clone();
    set(&mut insane, third + chunk_field::FIRST_ORDINAL, &u64::MAX.to_le_bytes());
    assert!(read(&insane).damage()[0].contains("no chunk can be recognised"));

    let mut too_long = whole;
    set(&mut too_long, third + chunk_field::BYTES, &0xffff_f000_u32.to_le_bytes());
    assert!(read(&too_long).damage()[0].contains("reaches beyond the end"));
}

#[test]
fn the_child_of_a_fork_goes_on_counting() {
    let mut writer = Writer::new();
    writer.begin_at(MAIN, 100);
    let before_the_fork = Past { kind: PastKind::Write, thread: MAIN, site: Site(9), ordinal: 40 };
    writer.write(MAIN, Draft::new(Kind::Forked).object(7).word(3));
    writer.write(WORKER, Draft::access(Kind::Read, 0x1000, 4).past(before_the_fork));
    let recording = read(&writer.to_bytes());
    assert!(recording.is_complete(), "{:?}", recording.damage());
    assert!(recording.stream(MAIN).map(|event| event.ordinal).eq([100]));
    let histories = Histories::of(&recording);
    let first = histories.locations().next().unwrap().lives[0].accesses[0];
    assert_eq!((first.site, first.order.stamp), (Site(9), 0), "it stands before everything");
}

#[test]
fn an_event_that_contradicts_its_kind_is_passed_over_alone() {
    let mut writer = Writer::new();
    writer.write(MAIN, Draft::new(Kind::Exec));
    writer.write(MAIN, Draft::new(Kind::ThreadJoin).object(1 << 40));
    writer.write(MAIN, Draft::new(Kind::Fact).word(u64::MAX).word(0));
    writer.write(MAIN, Draft::access(Kind::Read, 1, 1).word(1));
    writer.write(MAIN, Draft::access(Kind::Read, 0xffff_ffff_ffff, 2));
    writer.write(MAIN, Draft::new(Kind::Exec));
    let recording = read(&writer.to_bytes());
    assert!(recording.events().map(|event| event.ordinal).eq([0, 5]));
    assert_eq!(recording.damage(), ["4 events of chunk 0 of thread 1 make no sense"]);
}

#[test]
fn a_header_that_claims_a_huge_file_costs_nothing() {
    let mut bytes = many_events(1).to_bytes();
    set(&mut bytes, file_field::CHUNKS_END, &u64::MAX.to_le_bytes());
    let recording = read(&bytes);
    assert_eq!(recording.event_count(), 2);
    assert!(recording.damage()[0].contains("cut short"));
}

#[test]
fn every_reason_for_missing_events_is_a_sentence_with_its_numbers() {
    let mut writer = many_events(1);
    writer.set(file_field::LOST, lost::LIMIT | lost::DISK | lost::SIGNAL | 1 << 40);
    writer.set(file_field::DROPPED, 17);
    writer.set(file_field::ERROR, 28);
    let sentences = read(&writer.to_bytes()).incompleteness();
    assert_eq!(sentences.len(), 4);
    assert!(sentences[0].contains("limit of 1073741824 bytes was reached and 17 events"));
    assert!(sentences[1].contains("No space left"));
    assert!(sentences[3].contains("0x10000000000"));
}

#[test]
fn chunks_that_are_mostly_holes_are_read_whole() {
    let mut writer = Writer::new().with_chunks_of(1 << 20);
    writer.write(MAIN, Draft::new(Kind::Exec));
    writer.write(WORKER, Draft::new(Kind::Exec));
    writer.write(MAIN, Draft::new(Kind::Exec));
    let recording = read(&writer.to_bytes());
    assert_eq!(stamps(&recording), [1, 2, 3]);
    assert!(recording.is_complete());
}

#[test]
fn an_event_of_zeros_at_the_border_of_a_hole_is_kept() {
    // The zeros of the last event reach into the piece of the file that holds nothing else.
    let mut writer = Writer::new().with_chunks_of(1 << 20);
    (0..64 * 1024 / 24).for_each(|_| writer.write(MAIN, Draft::new(Kind::Exec)));
    let long = (0..1000).fold(Draft::new(Kind::Stack), |draft, _| draft.word(0));
    writer.write(MAIN, long);
    let recording = read(&writer.to_bytes());
    assert_eq!(recording.events().last().unwrap().kind(), Kind::Stack);
    assert!(recording.is_complete(), "{:?}", recording.damage());
}

#[test]
fn nobody_reads_on_once_it_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("1-0.events");
    std::fs::write(&path, many_events(1000).to_bytes()).unwrap();
    let cancellation = Cancellation::default();
    let recording = Recording::open_cancellable(&path, &cancellation).unwrap();
    assert_eq!(recording.events().count(), 2000);
    cancellation.cancel();
    let is_cancelled = |read: &(dyn Fn() + std::panic::RefUnwindSafe)| {
        std::panic::catch_unwind(read).is_err_and(|why| why.is::<Cancelled>())
    };
    assert!(is_cancelled(&|| assert_eq!(recording.events().count(), 0)));
    assert!(is_cancelled(&|| drop(Histories::of(&recording))));
    assert!(is_cancelled(&|| drop(Recording::open_cancellable(&path, &cancellation))));
}

#[test]
fn walks_end_where_the_first_one_that_ran_out_of_time_did() {
    const EVENTS: usize = 20_000;
    let mut writer = Writer::new();
    for _ in 0..EVENTS {
        writer.write(MAIN, Draft::new(Kind::Delay).object(1).unstamped());
    }
    let recording = Recording::from_bytes(&writer.to_bytes(), "long").unwrap();
    assert_eq!((recording.events().count(), recording.limit().events()), (EVENTS, None));
    let mut first = recording.events();
    let begun = first.by_ref().take(5000).count();
    recording.limit().end_in(std::time::Duration::ZERO);
    let seen = begun + first.count();
    assert!((5000..EVENTS).contains(&seen), "{seen}");
    assert!(recording.limit().has_run_out());
    assert_eq!(recording.events().count(), 0, "it is late");
    recording.limit().end_in(std::time::Duration::from_secs(3600));
    assert!(!recording.limit().has_run_out());
    assert_eq!(recording.limit().events(), Some(seen as u64));
    assert_eq!(recording.events().count(), seen, "by fold");
    assert_eq!(recording.events().map(|event| event.kind()).filter(|_| true).count(), seen);
    let mut one_by_one = recording.events();
    assert_eq!(std::iter::from_fn(|| one_by_one.next()).count(), seen);
}
