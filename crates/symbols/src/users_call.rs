//! The one line of the user's that all calls of a library's function come from.
//!
//! Takes   a function of a library that the compiler did not inline, and the calls of its module.
//! Gives   the user's call behind it, if all ways there begin on one line of source.
//! Misses  functions that are called from several lines, through pointers, or by code without debug info: a wrong line is worse than none.
//! Cost    one look-up of a place per call; at most `MAX_FUNCTIONS` functions, `MAX_DEPTH` calls deep.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Symbols;
use crate::library_code::is_library_frame;
use crate::module::Module;
use crate::place::{Frame, Place};

const MAX_FUNCTIONS: usize = 64;
const MAX_DEPTH: usize = 8;
/// A function with more calls is called from more than one line.
const MAX_CALLS: usize = 1024;

/// A call that the user wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsersCall {
    /// Of the first of them, if the line has been compiled several times.
    pub return_address: u64,
    /// Whether all of them are the same in the source: column, and functions it was inlined into.
    pub is_exact: bool,
}

/// Who made a call.
enum Caller {
    User,
    /// A function of a library; its address in the module's file.
    Library(u64),
}

/// Finds the calls behind the function at `function`, an address of the module's file.
pub fn find(symbols: &Symbols, module: &Module, function: u64) -> Option<UsersCall> {
    let mut found: Vec<Arc<Place>> = Vec::new();
    let mut seen = HashSet::from([function]);
    let mut open = vec![function];
    for _ in 0..MAX_DEPTH {
        for called in std::mem::take(&mut open) {
            let calls = module.calls_of(called).filter(|calls| calls.len() <= MAX_CALLS)?;
            for call in calls {
                let place = symbols.place(call.wrapping_add(module.info.bias));
                match caller(&place, module)? {
                    Caller::Library(function) if seen.insert(function) => open.push(function),
                    Caller::Library(_) => {}
                    Caller::User if found.iter().all(|known| same_line(known, &place)) => {
                        found.push(place);
                    }
                    Caller::User => return None,
                }
            }
        }
        if seen.len() > MAX_FUNCTIONS {
            return None;
        }
    }
    if open.is_empty() { only(&found) } else { None }
}

/// None: nobody knows.
fn caller(place: &Place, module: &Module) -> Option<Caller> {
    let name = place.module.as_deref();
    match own(place) {
        Some(frame) => (frame.file.is_some() && frame.line.is_some()).then_some(Caller::User),
        None => {
            let is_known = place.frames.iter().all(|frame| is_library_frame(frame, name));
            let function = module.symbols().function(place.offset.wrapping_sub(1));
            let known = function.filter(|_| is_known && !place.frames.is_empty());
            known.map(|function| Caller::Library(function.address))
        }
    }
}

fn only(found: &[Arc<Place>]) -> Option<UsersCall> {
    let first = found.iter().min_by_key(|place| place.address)?;
    let is_exact = found.iter().all(|place| outward(place) == outward(first));
    Some(UsersCall { return_address: first.address, is_exact })
}

fn own(place: &Place) -> Option<&Frame> {
    outward(place).first()
}

/// The user's frame and those it was inlined into.
fn outward(place: &Place) -> &[Frame] {
    place.own_frame().map_or(&[], |own| &place.frames[own..])
}

/// In one function: a template may have been made for several types.
fn same_line(one: &Place, other: &Place) -> bool {
    let line = |place| own(place).map(|frame| (&frame.function, &frame.file, frame.line));
    line(one) == line(other)
}
