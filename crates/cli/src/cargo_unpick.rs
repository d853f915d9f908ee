//! `cargo unpick …`: cargo finds this program by its name; it is `unpick cargo …`.
#![forbid(unsafe_code)]

fn main() {}
