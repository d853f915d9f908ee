//! A sorted set as a tree, every method locked. One thread walks through it in order, another one adds an element.
//!
//! A walk remembers at which state of the set it began and refuses to go on when it is another: it cannot know
//! whether it would meet every element once. That is no help to the one who walks: nobody kept the set from changing.

use std::sync::Mutex;
use std::thread;

struct Node {
    value: u64,
    left: Option<usize>,
    right: Option<usize>,
}

struct Tree {
    nodes: Vec<Node>,
    modifications: u64,
    size: usize,
}

struct TreeSet {
    tree: Mutex<Tree>,
    whole: Mutex<()>,
}

/// The set changed under a walk.
struct Changed;

struct Walk<'set> {
    set: &'set TreeSet,
    expected: u64,
    last: Option<u64>,
}

impl TreeSet {
    fn new() -> Self {
        let tree = Tree { nodes: Vec::new(), modifications: 0, size: 0 };
        Self { tree: Mutex::new(tree), whole: Mutex::new(()) }
    }

    fn add(&self, value: u64) {
        let _whole = cfg!(feature = "fixed").then(|| self.whole.lock().unwrap());
        let mut tree = self.tree.lock().unwrap();
        let new = tree.nodes.len();
        let mut at = if new == 0 { None } else { Some(0) };
        while let Some(node) = at {
            let node = &mut tree.nodes[node];
            let side = if value < node.value { &mut node.left } else { &mut node.right };
            at = *side;
            side.get_or_insert(new);
        }
        tree.nodes.push(Node { value, left: None, right: None });
        tree.size += 1;
        let modifications = tree.modifications + 1;
        tree.modifications = modifications; /* BUG: 2 */
    }

    fn walk(&self) -> Walk<'_> {
        let tree = self.tree.lock().unwrap();
        Walk { set: self, expected: tree.modifications, last: None }
    }

    fn size(&self) -> usize {
        self.tree.lock().unwrap().size
    }
}

impl Walk<'_> {
    /// The smallest element that is larger than the last one.
    fn next(&mut self) -> Result<Option<u64>, Changed> {
        let tree = self.set.tree.lock().unwrap();
        let modifications = tree.modifications; /* BUG: 1, 3 */
        if modifications != self.expected {
            return Err(Changed);
        }
        let mut at = if tree.nodes.is_empty() { None } else { Some(0) };
        let mut best = None;
        while let Some(node) = at {
            let node = &tree.nodes[node];
            let is_larger = self.last.is_none_or(|last| node.value > last);
            if is_larger {
                best = Some(node.value);
            }
            at = if is_larger { node.left } else { node.right };
        }
        self.last = best.or(self.last);
        Ok(best)
    }
}

fn sum(set: &TreeSet) -> Result<u64, Changed> {
    let _whole = cfg!(feature = "fixed").then(|| set.whole.lock().unwrap());
    let mut walk = set.walk();
    let mut sum = 0u64;
    while let Some(value) = walk.next()? {
        sum = sum.wrapping_add(value);
    }
    Ok(sum)
}

fn scatter(n: u64) -> u64 {
    n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16
}

/// Something else to do, for so many steps.
fn ponder(steps: u64) -> u64 {
    std::hint::black_box((0..steps).fold(1, |thought, step| scatter(thought ^ step)))
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let elements = arguments.next().unwrap_or(400);
    let steps = arguments.next().unwrap_or(60_000);
    let set = TreeSet::new();
    (0..elements).for_each(|n| set.add(scatter(n + 1)));
    let sum = thread::scope(|threads| {
        let walker = threads.spawn(|| {
            ponder(steps);
            sum(&set)
        });
        threads.spawn(|| {
            ponder(steps);
            set.add(scatter(elements + 1));
        });
        walker.join().unwrap()
    });
    println!("{} elements", set.size());
    match sum {
        Ok(sum) => println!("sum {sum}"),
        Err(Changed) => {
            eprintln!("FAILED: the set changed under a walk");
            std::process::exit(1);
        }
    }
}
