//! The control flow of one function: which of its calls can come after which, without a new iteration of a loop.
//!
//! Takes   the machine code of a function.      Returns  for two return addresses whether the second can follow the first.
//! Misses  functions with jumps through tables, or with parts elsewhere: nothing is said about them. What a call that never returns is
//!         followed by counts as reachable. Only x86-64.
//! Cost    each function is decoded once; a search in its graph for each question.
//!
//! Edges that lead back to an instruction the way there has come by close a loop (retreating edges and natural loops: Aho, Sethi, Ullman).
//! A way that takes none of those of a loop is in one iteration of it. Only the outermost loops count: a loop inside may go through a
//! collection, which is one piece of work.

use std::collections::HashMap;

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

/// A function beyond this was made by a generator.
const MAX_INSTRUCTIONS: usize = 100_000;

/// The instructions of a function and what follows each.
pub struct ControlFlow {
    /// By place of the instruction.
    next: Vec<Vec<u32>>,
    /// Whether control gets there from the function's entry.
    is_reached: Vec<bool>,
    /// Loops that no other loop contains.
    outermost: Vec<Loop>,
    /// The place of each instruction by the address after it.
    ending_at: HashMap<u64, u32>,
}

/// Instructions from which control comes back to the first of them.
#[derive(Clone)]
struct Loop {
    head: u32,
    /// By place of the instruction.
    contains: Vec<bool>,
}

impl ControlFlow {
    /// None: the code cannot be followed.
    pub fn of(code: &[u8], address: u64) -> Option<ControlFlow> {
        let decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
        let instructions: Vec<Instruction> =
            decoder.into_iter().take(MAX_INSTRUCTIONS + 1).collect();
        if instructions.len() > MAX_INSTRUCTIONS {
            return None;
        }
        let places: HashMap<u64, u32> =
            instructions.iter().zip(0..).map(|(one, place)| (one.ip(), place)).collect();
        let ending_at = instructions.iter().zip(0..).map(|(one, place)| (one.next_ip(), place));
        let ending_at = ending_at.collect();
        let next = instructions.iter().map(|one| successors(one, &places));
        let next: Vec<Vec<u32>> = next.collect::<Option<_>>()?;
        let (is_reached, retreating) = retreating_edges(&next);
        let outermost = outermost_of(&loops_of(&next, &retreating));
        Some(ControlFlow { next, is_reached, outermost, ending_at })
    }

    /// Whether the call that returns to `second` can come after the one that returns to `first`, in the same iteration of the outermost loop
    /// that both are in. None: not known.
    pub fn follows(&self, first: u64, second: u64) -> Option<bool> {
        let [first, second] = [first, second].map(|address| self.ending_at.get(&address));
        let (first, second) = (*first? as usize, *second? as usize);
        if !self.is_reached[first] || !self.is_reached[second] {
            return None;
        }
        let is_shared = |one: &&Loop| one.contains[first] && one.contains[second];
        let shared = self.outermost.iter().find(is_shared);
        // A way back to the head of the loop begins its next iteration.
        let begins_iteration =
            |from: usize, to: u32| shared.is_some_and(|one| one.head == to && one.contains[from]);
        let mut seen = vec![false; self.next.len()];
        let mut open = vec![first];
        while let Some(place) = open.pop() {
            for &next in &self.next[place] {
                let is_new = !begins_iteration(place, next) && !seen[next as usize];
                if is_new && next as usize == second {
                    return Some(true);
                }
                if is_new {
                    seen[next as usize] = true;
                    open.push(next as usize);
                }
            }
        }
        Some(false)
    }
}

/// Where control goes after an instruction; none: not known.
fn successors(instruction: &Instruction, places: &HashMap<u64, u32>) -> Option<Vec<u32>> {
    let following = places.get(&instruction.next_ip()).copied();
    let target = || places.get(&instruction.near_branch_target()).copied();
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => {
            Some(following.into_iter().collect())
        }
        // A part of the function that lies elsewhere may come back.
        FlowControl::ConditionalBranch => Some(following.into_iter().chain([target()?]).collect()),
        // Outside the function it is a call in tail position.
        FlowControl::UnconditionalBranch => Some(target().into_iter().collect()),
        FlowControl::Return | FlowControl::Exception | FlowControl::Interrupt => Some(Vec::new()),
        FlowControl::IndirectBranch | FlowControl::XbeginXabortXend => None,
    }
}

/// What control reaches from the entry, and the edges that lead back to where the way has come by.
fn retreating_edges(next: &[Vec<u32>]) -> (Vec<bool>, Vec<[u32; 2]>) {
    let mut is_reached = vec![false; next.len()];
    let mut is_on_way = vec![false; next.len()];
    let mut retreating = Vec::new();
    let mut way: Vec<(u32, usize)> = Vec::new();
    if !next.is_empty() {
        (is_reached[0], is_on_way[0]) = (true, true);
        way.push((0, 0));
    }
    while let Some((place, tried)) = way.last_mut() {
        let here = *place;
        let Some(&target) = next[here as usize].get(*tried) else {
            is_on_way[here as usize] = false;
            way.pop();
            continue;
        };
        *tried += 1;
        if is_on_way[target as usize] {
            retreating.push([here, target]);
        } else if !std::mem::replace(&mut is_reached[target as usize], true) {
            is_on_way[target as usize] = true;
            way.push((target, 0));
        }
    }
    (is_reached, retreating)
}

fn outermost_of(loops: &[Loop]) -> Vec<Loop> {
    let is_inside = |one: &Loop| {
        loops.iter().any(|other| other.head != one.head && other.contains[one.head as usize])
    };
    loops.iter().filter(|one| !is_inside(one)).cloned().collect()
}

/// The natural loops, one for each head.
fn loops_of(next: &[Vec<u32>], retreating: &[[u32; 2]]) -> Vec<Loop> {
    let mut before = vec![Vec::new(); next.len()];
    for (place, targets) in (0..).zip(next) {
        targets.iter().for_each(|&target| before[target as usize].push(place));
    }
    let mut loops: Vec<Loop> = Vec::new();
    for &[end, head] in retreating {
        let known = loops.iter().position(|one| one.head == head).unwrap_or_else(|| {
            let mut contains = vec![false; next.len()];
            contains[head as usize] = true;
            loops.push(Loop { head, contains });
            loops.len() - 1
        });
        let contains = &mut loops[known].contains;
        let mut open = vec![end];
        while let Some(place) = open.pop() {
            if !std::mem::replace(&mut contains[place as usize], true) {
                open.extend(&before[place as usize]);
            }
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOP_CALL: [u8; 5] = [0xe8, 0, 0, 0, 0];

    /// A call is `e8 rel32`; jumps are short.
    fn flow(parts: &[&[u8]]) -> Option<ControlFlow> {
        ControlFlow::of(&parts.concat(), 0x1000)
    }

    #[test]
    fn straight_code_is_followed_one_way() {
        let flow = flow(&[&NOP_CALL, &NOP_CALL, &[0xc3]]).unwrap();
        assert_eq!(flow.follows(0x1005, 0x100a), Some(true));
        assert_eq!(flow.follows(0x100a, 0x1005), Some(false));
        assert_eq!(flow.follows(0x1005, 0x1005), Some(false));
        assert_eq!(flow.follows(0x1005, 0x1234), None, "no instruction ends there");
    }

    #[test]
    fn a_loop_is_one_iteration() {
        // a: call; call; jne a; ret
        let flow = flow(&[&NOP_CALL, &NOP_CALL, &[0x75, 0xf4], &[0xc3]]).unwrap();
        assert_eq!(flow.follows(0x1005, 0x100a), Some(true));
        assert_eq!(flow.follows(0x100a, 0x1005), Some(false), "only in the next iteration");
    }

    #[test]
    fn a_loop_that_is_tested_at_its_end_begins_there() {
        // jmp test; body: call; test: call; jne body; ret
        let flow = flow(&[&[0xeb, 0x05], &NOP_CALL, &NOP_CALL, &[0x75, 0xf4], &[0xc3]]).unwrap();
        let (body, test) = (0x1007, 0x100c);
        assert_eq!(flow.follows(test, body), Some(true));
        assert_eq!(flow.follows(body, test), Some(false), "only in the next iteration");
    }

    #[test]
    fn what_comes_after_a_loop_follows_what_is_in_it() {
        // head: je end; call; jmp head; end: call; ret
        let flow = flow(&[&[0x74, 0x07], &NOP_CALL, &[0xeb, 0xf7], &NOP_CALL, &[0xc3]]).unwrap();
        assert_eq!(flow.follows(0x1007, 0x100e), Some(true), "the loop is left by its head");
        assert_eq!(flow.follows(0x100e, 0x1007), Some(false));
        assert_eq!(flow.follows(0x1007, 0x1007), Some(false));
    }

    #[test]
    fn the_iterations_of_an_inner_loop_are_one_iteration_of_the_outer_one() {
        // a: call; b: call; jne b; jne a; ret
        let inner = [0x75, 0xf9];
        let flow = flow(&[&NOP_CALL, &NOP_CALL, &inner, &[0x75, 0xf2], &[0xc3]]).unwrap();
        assert_eq!(flow.follows(0x100a, 0x100a), Some(true));
        assert_eq!(flow.follows(0x1005, 0x100a), Some(true));
        assert_eq!(flow.follows(0x100a, 0x1005), Some(false));
    }

    #[test]
    fn branches_exclude_each_other() {
        // je other; call; ret; other: call; ret
        let flow = flow(&[&[0x74, 0x06], &NOP_CALL, &[0xc3], &NOP_CALL, &[0xc3]]).unwrap();
        assert_eq!(flow.follows(0x1007, 0x100d), Some(false));
        assert_eq!(flow.follows(0x100d, 0x1007), Some(false));
    }

    #[test]
    fn what_cannot_be_followed_says_nothing() {
        assert!(flow(&[&NOP_CALL, &[0xff, 0xe0]]).is_none(), "jmp rax");
        assert!(flow(&[&NOP_CALL, &[0x74, 0x7f], &[0xc3]]).is_none(), "a branch to elsewhere");
        assert!(flow(&[]).unwrap().follows(0x1005, 0x1005).is_none());
    }
}
