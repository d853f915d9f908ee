//! Where functions were left although threads that were given a part of their frames had not ended.
//!
//! Takes   events in order.      Returns  of an access, whether it stands for such an end: then it frees what it writes.
//!
//! Such a site is the call of a hook at the end of a function: nothing else writes there.

use std::collections::HashSet;

use unpick_events::Site;
use unpick_events::access::PastKind;

use crate::action::Action;
use crate::event::Event;

/// The sites that are known so far.
#[derive(Debug, Clone, Default)]
pub struct FrameEnds {
    sites: HashSet<Site>,
}

impl FrameEnds {
    pub fn observe(&mut self, event: &Event<'_>) {
        if matches!(event.action, Action::StackGone { .. }) && event.site.0 != 0 {
            self.sites.insert(event.site);
        }
    }

    /// What an access at a site does.
    pub fn kind_of(&self, kind: PastKind, site: Site) -> PastKind {
        let is_end = kind == PastKind::Write && self.sites.contains(&site);
        if is_end { PastKind::Free } else { kind }
    }
}
