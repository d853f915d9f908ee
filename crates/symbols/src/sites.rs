//! From the low 32 bits of a return address back to the address.
//!
//! Misses  nothing that is mapped; where several modules have code at those bits, the order says which is likely.

use crate::module::Module;

/// The addresses a site could mean.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SiteCandidates {
    /// Most likely first: in instrumented modules, then in the order of the module map.
    pub addresses: Vec<u64>,
    /// How many of the first addresses are in instrumented modules.
    pub instrumented: usize,
}

impl SiteCandidates {
    pub fn best(&self) -> Option<u64> {
        self.addresses.first().copied()
    }

    /// Whether another address is as likely as the best one.
    pub fn ambiguous(&self) -> bool {
        match self.instrumented {
            0 => self.addresses.len() > 1,
            several => several > 1,
        }
    }

    pub(crate) fn find(modules: &[Module], low32: u32) -> SiteCandidates {
        let mut found: Vec<(&Module, u64)> = Vec::new();
        for module in modules {
            for address in addresses_with(module, low32) {
                // A module that was loaded, unloaded and loaded again is listed twice.
                if found.iter().all(|&(_, known)| known != address) {
                    found.push((module, address));
                }
            }
        }
        if found.len() < 2 {
            return SiteCandidates::from_one(found.first().map(|&(_, address)| address));
        }
        let (instrumented, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|(module, _)| module.symbols().instrumented);
        SiteCandidates {
            instrumented: instrumented.len(),
            addresses: instrumented.into_iter().chain(others).map(|(_, address)| address).collect(),
        }
    }

    /// With one candidate nobody needs to know whether its module is instrumented.
    fn from_one(address: Option<u64>) -> SiteCandidates {
        SiteCandidates {
            instrumented: usize::from(address.is_some()),
            addresses: address.into_iter().collect(),
        }
    }
}

/// Return addresses with these low bits that follow code of the module.
fn addresses_with(module: &Module, low32: u32) -> impl Iterator<Item = u64> {
    let range = module.info.addresses();
    let first = range.start & !u64::from(u32::MAX) | u64::from(low32);
    // A return address may be one past the end of the module, never its start.
    (0..)
        .map_while(move |turn: u64| first.checked_add(turn.checked_mul(1 << 32)?))
        .take_while(move |&address| address <= range.end)
        .filter(move |&address| address > range.start && module.has_code_at(address - 1))
}
