//! Where the threads of a process synchronise with each other: the calls at which a delay can change their order.
//!
//! Takes   a recording, and what is known about it beyond (`Knowledge`).
//! Gives   sites of operations on locks, condition variables, semaphores, barriers and once-objects that at least two threads used.
//! Misses  objects of which the recording has events of one thread only; annotations, pipes and files.
//! Cost    one pass over the events.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::{Address, Site, ThreadId};
use unpick_recording::{Action, Event, Recording};

use crate::interleaving_patterns::{CodeModule, code_module, module_at};
use crate::knowledge::Knowledge;
use crate::locks_held::LockChange;

/// A return address in the terms of a module's file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModuleSite {
    pub module: CodeModule,
    pub offset: u64,
}

/// Who used an object, and where.
struct Use {
    first: ThreadId,
    is_shared: bool,
    sites: FxHashSet<Site>,
}

/// The sites in a recording, sorted by module and offset.
pub fn synchronisation_sites(recording: &Recording, known: &dyn Knowledge) -> Vec<ModuleSite> {
    let mut uses: FxHashMap<Address, Use> = FxHashMap::default();
    for thread in recording.threads() {
        for event in recording.stream(thread.id) {
            let Some(object) = object_of(&event, known) else { continue };
            let this = uses.entry(object).or_insert_with(|| Use {
                first: thread.id,
                is_shared: false,
                sites: FxHashSet::default(),
            });
            this.is_shared |= this.first != thread.id;
            this.sites.insert(event.site);
        }
    }
    let shared = uses.into_values().filter(|one| one.is_shared);
    let sites: FxHashSet<Site> = shared.flat_map(|one| one.sites).collect();
    let mut sites: Vec<_> =
        sites.into_iter().filter_map(|site| in_module(recording, known, site)).collect();
    sites.sort_by(|one, other| {
        (&one.module.path, one.offset).cmp(&(&other.module.path, other.offset))
    });
    sites
}

/// The object that an event synchronises on, if it does.
fn object_of(event: &Event<'_>, known: &dyn Knowledge) -> Option<Address> {
    if let Some(change) = known.lock_change(event) {
        return Some(match change {
            LockChange::Taken { lock, .. }
            | LockChange::Released { lock }
            | LockChange::Downgraded { lock }
            | LockChange::Upgraded { lock } => lock,
        });
    }
    match event.action {
        Action::LockWait { lock, .. } => Some(lock),
        Action::ConditionWait { condition, .. }
        | Action::ConditionSignal { condition }
        | Action::ConditionBroadcast { condition } => Some(condition),
        Action::SemaphorePost { semaphore } | Action::SemaphoreWait { semaphore } => {
            Some(semaphore)
        }
        Action::BarrierArrive { barrier } => Some(barrier),
        Action::OnceBegin { once } | Action::OnceWait { once } => Some(once),
        _ => None,
    }
}

fn in_module(recording: &Recording, known: &dyn Knowledge, site: Site) -> Option<ModuleSite> {
    let address = known.return_address(site)?;
    // A return address can be one past the end of its module.
    let module = module_at(recording, address.checked_sub(1)?)?;
    Some(ModuleSite { module: code_module(module), offset: address.wrapping_sub(module.bias) })
}
