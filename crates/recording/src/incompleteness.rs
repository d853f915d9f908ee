//! Why a recording is not the whole story: one sentence per reason.

use unpick_events::file::lost;

use crate::file_header::FileHeader;

/// One sentence for each bit of `lost`, with the numbers that belong to it.
pub fn sentences(header: &FileHeader) -> Vec<String> {
    let mut sentences: Vec<String> = REASONS
        .iter()
        .filter(|(bit, _)| header.lost & bit != 0)
        .map(|(_, sentence)| sentence(header))
        .collect();
    let unknown = REASONS.iter().fold(header.lost, |left, (bit, _)| left & !bit);
    if unknown != 0 {
        sentences.push(format!(
            "events are missing for a reason this build does not know (bits {unknown:#x})"
        ));
    }
    if header.lost == 0 && header.dropped > 0 {
        sentences.push(format!("{} not recorded", events_were(header.dropped)));
    }
    sentences
}

type Sentence = fn(&FileHeader) -> String;

const REASONS: &[(u64, Sentence)] = &[
    (lost::LIMIT, limit),
    (lost::DISK, disk),
    (lost::THREADS, threads),
    (lost::SIGNAL, signal),
    (lost::MEMORY, memory),
    (lost::AMBIGUOUS_SITES, ambiguous_sites),
    (lost::STUCK, stuck),
];

fn limit(header: &FileHeader) -> String {
    format!(
        "the size limit of {} bytes was reached and {} dropped: record again with a higher --limit",
        header.limit,
        events_were(header.dropped)
    )
}

fn disk(header: &FileHeader) -> String {
    format!(
        "the disk had no room for more ({}) and {} dropped: free some space or choose another --store",
        std::io::Error::from_raw_os_error(i32::try_from(header.error).unwrap_or(0)),
        events_were(header.dropped)
    )
}

fn threads(header: &FileHeader) -> String {
    format!(
        "the program had {} threads, more than there are numbers for: the later ones were not recorded",
        header.threads
    )
}

fn signal(_: &FileHeader) -> String {
    "a signal handler touched shared bytes while it interrupted the recorder: those accesses are missing".to_owned()
}

fn memory(header: &FileHeader) -> String {
    format!(
        "the recorder got no memory for its bookkeeping and {} dropped",
        events_were(header.dropped)
    )
}

fn ambiguous_sites(_: &FileHeader) -> String {
    "two modules share the low 32 bits of some addresses: places in the code may name the wrong one"
        .to_owned()
}

fn stuck(_: &FileHeader) -> String {
    "a thread was stopped for good inside the recorder: other accesses to the bytes it was at are missing".to_owned()
}

fn events_were(count: u64) -> String {
    if count == 1 { "1 event was".to_owned() } else { format!("{count} events were") }
}
