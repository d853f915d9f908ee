//! The accesses of a recording to bytes that threads share, in the order they happened.
//!
//! Takes   a recording, and whose state its bytes are.      Gives  each access once, with the locations it touched.
//! Misses  locations that one thread alone touched, and state of libraries: neither communicates.
//! Cost    32 bytes per access and location; they are sorted once.

use unpick_events::access::PastKind;
use unpick_events::{Context, Site};
use unpick_recording::{Access, Histories, Life, Order};

use crate::access_pairs::{LivedBytes, is_of_library, place_of};
use crate::code_tables::Process;
use crate::interleaving_patterns::slices_of;

/// Every slice reads all events: histories of more of them at once than elsewhere, for each has little to do here.
const MOST_EVENTS: u64 = 4_000_000;

/// An access at one location.
#[derive(Debug, Clone, Copy)]
pub struct Touch {
    /// The same for all parts of an access.
    pub order: Order,
    pub site: Site,
    pub stack: Context,
    /// Number of the location.
    pub location: u32,
    pub kind: PastKind,
}

/// All touches of a recording.
#[derive(Debug, Default)]
pub struct Touches {
    touches: Vec<Touch>,
    pub locations: Vec<LivedBytes>,
}

impl Touches {
    pub fn of(process: &Process<'_>) -> Touches {
        let mut all = Touches::default();
        for slice in slices_of(process.recording, MOST_EVENTS) {
            for location in Histories::within(process.recording, slice).locations() {
                let lives = location.lives.iter().filter(|life| communicates(life));
                for life in lives.filter(|life| !is_of_library(life, process.knowledge)) {
                    all.take_in(
                        LivedBytes { bytes: location.bytes.clone(), block: life.block },
                        life,
                    );
                }
            }
        }
        all.touches.sort_unstable_by_key(|touch| {
            (touch.order, touch.site, touch.kind as u8, touch.location)
        });
        all
    }

    fn take_in(&mut self, location: LivedBytes, life: &Life) {
        let number = self.locations.len() as u32;
        self.locations.push(location);
        self.touches.extend(life.accesses.iter().map(|access| touch_of(access, number)));
    }

    /// Access by access: its touches, one per location.
    pub fn accesses(&self) -> impl Iterator<Item = &[Touch]> {
        self.touches.chunk_by(|one, next| {
            (one.order, one.site, one.kind) == (next.order, next.site, next.kind)
        })
    }
}

fn touch_of(access: &Access, location: u32) -> Touch {
    let (order, site, stack) = (place_of(access), access.site, access.context);
    Touch { order, site, stack, location, kind: access.kind }
}

/// Whether more than one thread was there.
fn communicates(life: &Life) -> bool {
    life.accesses.iter().any(|access| access.thread != life.accesses[0].thread)
}
