//! A delay plan: which arrivals at which sites of the program a run delays, and the file that tells the runtime.
//!
//! Takes   sites and arrivals.      Gives  the bytes of the file (`unpick_events::schedule`).

use unpick_events::schedule::{
    DELAY_MAGIC, HEADER_WORDS, MODULE_TEXT_BYTES, MODULE_WORDS, Operand, PLACE_WORDS, delay_place,
    header, place,
};

use crate::delay_sites::{DelaySite, SiteModule};

/// The delays of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DelayPlan {
    /// Each site once.
    pub targets: Vec<Target>,
}

/// A site at which an arrival is delayed, or arrivals are only counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub site: DelaySite,
    /// Which arrival of the process, from 1; 0: none.
    pub arrival: u64,
    pub nanoseconds: u64,
}

impl Target {
    /// A site that is not delayed.
    pub fn counted(site: DelaySite) -> Target {
        Target { site, arrival: 0, nanoseconds: 0 }
    }

    pub fn is_delayed(&self) -> bool {
        self.arrival > 0
    }
}

impl DelayPlan {
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// How long its delays are together.
    pub fn nanoseconds(&self) -> u64 {
        self.targets.iter().map(|target| target.nanoseconds).sum()
    }

    /// Adds a site that is not there yet, if the runtime has room for it and its module.
    pub(crate) fn add(&mut self, target: Target, max_places: usize, max_modules: usize) {
        let is_there = self.targets.iter().any(|known| known.site == target.site);
        let modules = self.modules();
        let has_module = modules.contains(&&target.site.module) || modules.len() < max_modules;
        let fits = target.site.module.text().len() <= MODULE_TEXT_BYTES;
        if !is_there && has_module && fits && self.targets.len() < max_places {
            self.targets.push(target);
        }
    }

    /// Each once, in the order in which sites name them.
    fn modules(&self) -> Vec<&SiteModule> {
        let mut modules = Vec::new();
        for target in &self.targets {
            if !modules.contains(&&target.site.module) {
                modules.push(&target.site.module);
            }
        }
        modules
    }

    /// The file for the runtime.
    pub fn to_bytes(&self) -> Vec<u8> {
        let modules = self.modules();
        let mut words = vec![0; HEADER_WORDS];
        words[header::MAGIC] = DELAY_MAGIC;
        words[header::STEPS] = 1;
        words[header::PLACES] = self.targets.len() as u64;
        words[header::MODULES] = modules.len() as u64;
        modules.iter().for_each(|module| words.extend(words_of_module(module)));
        for target in &self.targets {
            let module = modules.iter().position(|&module| *module == target.site.module);
            words.extend(words_of_place(target, module.unwrap_or(0)));
        }
        words.into_iter().flat_map(u64::to_le_bytes).collect()
    }
}

impl SiteModule {
    fn text(&self) -> &str {
        match self {
            SiteModule::BuildId(text) | SiteModule::Path(text) => text,
        }
    }
}

fn words_of_module(module: &SiteModule) -> [u64; MODULE_WORDS] {
    let mut words = [0; MODULE_WORDS];
    words[0] = module.text().len() as u64;
    words[1] = u64::from(matches!(module, SiteModule::BuildId(_)));
    for (word, bytes) in words[2..].iter_mut().zip(module.text().as_bytes().chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

fn words_of_place(target: &Target, module: usize) -> [u64; PLACE_WORDS] {
    let mut words = [0; PLACE_WORDS];
    words[place::MODULE] = module as u64;
    words[place::OFFSET] = target.site.offset;
    words[place::VARIABLE] = place::NONE;
    words[place::OPERAND] = Operand::Unknown as u64;
    words[delay_place::ARRIVAL] = target.arrival;
    words[delay_place::NANOSECONDS] = target.nanoseconds;
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(module: &str, offset: u64) -> DelaySite {
        DelaySite { module: SiteModule::Path(module.to_owned()), offset }
    }

    #[test]
    fn a_plan_has_each_site_once_and_no_more_modules_than_there_is_room_for() {
        let mut plan = DelayPlan::default();
        for (module, offset) in [("a", 1), ("a", 1), ("b", 1), ("c", 1), ("a", 2), ("b", 2)] {
            plan.add(Target::counted(site(module, offset)), 4, 2);
        }
        let sites: Vec<_> = plan.targets.into_iter().map(|target| target.site).collect();
        assert_eq!(sites, [site("a", 1), site("b", 1), site("a", 2), site("b", 2)]);
    }

    #[test]
    fn the_file_names_modules_and_arrivals() {
        let targets = vec![
            Target { site: site("/bin/bank", 0x1234), arrival: 3, nanoseconds: 500 },
            Target::counted(site("/lib/x.so", 7)),
        ];
        let bytes = DelayPlan { targets }.to_bytes();
        let words: Vec<u64> = bytes
            .chunks_exact(8)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect();
        assert_eq!(words.len(), HEADER_WORDS + 2 * MODULE_WORDS + 2 * PLACE_WORDS);
        assert_eq!(words[HEADER_WORDS..][..3], [9, 0, u64::from_le_bytes(*b"/bin/ban")]);
        let places = &words[HEADER_WORDS + 2 * MODULE_WORDS..];
        assert_eq!(places[..3], [0, 0x1234, 0]);
        assert_eq!(places[delay_place::ARRIVAL..][..2], [3, 500]);
        assert_eq!(places[PLACE_WORDS..][..2], [1, 7]);
    }
}
