//! Everything that is done with stored graphs nobody trusts.

use unpick_analyses::communication::{
    Contexts, LabelledGraphs, Limits, RunGraphs, by_accesses, by_edges, reconstruct,
};
use unpick_analyses::ranking::CodeBook;
use unpick_events::Label;
use unpick_events::file::fnv1a;

/// Reads version and tables behind a right checksum. Says whether they were accepted; then they can be used.
pub fn exercise(rest: &[u8]) -> bool {
    let bytes = [&b"UNPIGRPH"[..], &fnv1a(rest).to_le_bytes(), rest].concat();
    let Ok(graphs) = RunGraphs::from_bytes(&bytes, "fuzzed") else { return false };
    let runs = [Label::Fail, Label::Pass].map(|label| LabelledGraphs {
        number: 1,
        label,
        graphs: graphs.clone(),
    });
    for contexts in [Contexts::Whole, Contexts::AnyLength] {
        let limits = Limits { contexts, ..Limits::default() };
        reconstruct(runs.clone(), &limits).unwrap();
    }
    by_edges(runs.clone()).unwrap();
    by_accesses(runs);
    graphs.accesses(&mut CodeBook::default());
    assert_eq!(RunGraphs::from_bytes(&graphs.to_bytes(), "again").unwrap(), graphs);
    true
}
