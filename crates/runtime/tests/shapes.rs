//! Locations are exact to the byte: neighbours are different ones, and accesses of different shape meet where they overlap.

mod support;

use support::Program;
use unpick_recording::{Histories, Recording};

/// What the history of each pair of accesses must be: bytes, then what happened to them, thread by thread.
const EXPECTED: [(&str, &str); 18] = [
    ("neighbouring_bytes", ""),
    ("neighbouring_bools", ""),
    ("neighbouring_ints", ""),
    ("byte_of_a_long", "3..4 1w 2r"),
    ("long_over_a_byte", "3..4 1w 2r"),
    ("short_inside_an_int", "2..4 1w 2w"),
    ("overlapping_unaligned_ints", "4..6 1w 2r"),
    ("unaligned_long_over_a_border", "12..13 1w 2w"),
    ("two_unaligned_longs", "6..9 1w 2r"),
    ("bits_of_one_byte", "0..1 1w 2w"),
    ("packed_member", "1..5 1w 2r"),
    ("packed_neighbours", ""),
    ("copied_struct", "0..40 1w 2r"),
    ("sixteen_bytes", "0..16 1w 2r"),
    ("byte_of_sixteen", "9..10 1w 2r"),
    ("copied_bytes", "13..14 1w 2r"),
    ("moved_bytes", "8..16 1w 2r 2w"),
    ("filled_bytes", "5..6 1w 2w"),
];

/// The 64 bytes at `address`: stretches with the same history, and that history without repetitions.
fn history(recording: &Recording, address: u64) -> String {
    let mut stretches: Vec<(u64, u64, String)> = Vec::new();
    for location in Histories::within(recording, address..address + 64).locations() {
        let mut steps: Vec<String> = Vec::new();
        for access in location.lives.iter().flat_map(|life| &life.accesses) {
            let step = format!("{}{}", access.thread.0, if access.is_write() { "w" } else { "r" });
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        let (start, end, steps) =
            (location.bytes.start - address, location.bytes.end - address, steps.join(" "));
        match stretches.last_mut() {
            Some(last) if last.1 == start && last.2 == steps => last.1 = end,
            _ => stretches.push((start, end, steps)),
        }
    }
    let told = stretches.iter().map(|(start, end, steps)| format!("{start}..{end} {steps}"));
    told.collect::<Vec<_>>().join(", ")
}

fn check(compiler: &str, options: &[&str]) {
    let options = [support::needed_by(compiler), options].concat();
    let program = Program::build_using(compiler, "shapes.c", &options);
    for mode in ["", "full"] {
        let run = program.record(&[], mode);
        let recording = run.recording();
        assert!(recording.is_complete(), "{:?}", recording.incompleteness());
        let text = String::from_utf8_lossy(&run.output.stdout);
        let told: Vec<(&str, String)> = text
            .lines()
            .filter_map(|line| line.split_once(" 0x"))
            .map(|(name, address)| (name, u64::from_str_radix(address, 16).expect("an address")))
            .map(|(name, address)| (name, history(&recording, address)))
            .map(|(name, told)| (name, without_a_read_of_bits(name, told)))
            .collect();
        let expected: Vec<(&str, String)> =
            EXPECTED.iter().map(|(name, told)| (*name, (*told).to_owned())).collect();
        assert_eq!(told, expected, "{compiler} {options:?} {mode}");
    }
}

/// Writing bits reads those around them, which gcc does not tell; how many bytes of them is the compiler's choice.
fn without_a_read_of_bits(name: &str, told: String) -> String {
    if name != "bits_of_one_byte" {
        return told;
    }
    let met = told.split(", ").find(|stretch| stretch.starts_with("0..")).unwrap_or_default();
    let (_, steps) = met.split_once(' ').unwrap_or_default();
    format!("0..1 {}", steps.replace("1r ", "").replace("2r ", ""))
}

#[test]
fn gcc_at_all_levels() {
    for level in ["-O0", "-O1", "-O2"] {
        check("gcc", &[level]);
    }
}

#[test]
fn clang_at_all_levels() {
    if !support::is_installed("clang") {
        return;
    }
    for level in ["-O0", "-O1", "-O2"] {
        check("clang", &[level]);
    }
}

#[test]
fn compilers_of_cxx() {
    if !support::is_installed("clang++") {
        return;
    }
    check("g++", &["-O0"]);
    check("g++", &["-O2"]);
    check("clang++", &["-O1"]);
}
