//! Ten thousand sites are named in well under a second: asked of the test program itself, which has some MB of debug info.

use std::time::{Duration, Instant};

use unpick_symbols::{ModuleInfo, Symbols};

/// Unoptimised, and beside other tests, everything takes longer.
const LIMIT: Duration =
    if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(1) };

#[test]
fn ten_thousand_sites_are_named_in_time() {
    let path = std::env::current_exe().unwrap();
    let length = std::fs::metadata(&path).unwrap().len();
    let module = ModuleInfo { path, build_id: String::new(), bias: 0, start: 0, length };
    let symbols = Symbols::load(&[module]);

    let loading = Instant::now();
    let sites: Vec<u32> =
        (0..).step_by(4096).filter(|&site| symbols.resolve_site(site).is_some()).take(1).collect();
    let first = symbols.place(u64::from(sites[0]));
    let loading = loading.elapsed();

    let naming = Instant::now();
    let step = 61;
    let named = (0..10_000_u32)
        .map(|index| sites[0] + index * step)
        .filter_map(|site| symbols.place_of_site(site))
        .filter(|place| place.line().is_some())
        .count();
    let naming = naming.elapsed();

    let indexing = Instant::now();
    symbols.variable(u64::from(sites[0]), 4, Some(&first));
    let indexing = indexing.elapsed();
    println!(
        "load {loading:?}, 10,000 sites {naming:?} ({named} with a line), index of variables {indexing:?}"
    );
    assert!(named > 1000, "only {named} sites had a line");
    assert!(naming < LIMIT, "{naming:?}");
}
