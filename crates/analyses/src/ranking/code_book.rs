//! Sites of many runs under one numbering.

use rustc_hash::FxHashMap;

use crate::interleaving_patterns::{CodeModule, CodeSite, RunPatterns};

/// The modules and sites of all runs, each once.
#[derive(Debug, Clone, Default)]
pub struct CodeBook {
    pub modules: Vec<CodeModule>,
    pub sites: Vec<CodeSite>,
    module_numbers: FxHashMap<String, u32>,
    site_numbers: FxHashMap<CodeSite, u32>,
}

/// How the numbers of one run translate to those of the book.
#[derive(Debug)]
pub struct Translation {
    pub modules: Vec<u32>,
    pub sites: Vec<u32>,
}

impl CodeBook {
    /// Enters what a run knows.
    pub fn enter(&mut self, run: &RunPatterns) -> Translation {
        self.enter_code(&run.modules, &run.sites)
    }

    /// Enters modules, and sites in them.
    pub(crate) fn enter_code(&mut self, modules: &[CodeModule], sites: &[CodeSite]) -> Translation {
        let modules: Vec<u32> = modules.iter().map(|module| self.module(module)).collect();
        let sites = sites.iter().map(|site| {
            let module = site.module.map(|module| modules[module as usize]);
            self.site(CodeSite { module, ..*site })
        });
        let sites = sites.collect();
        Translation { modules, sites }
    }

    /// A build id says which file it is, wherever it is; without one only its path does.
    pub(crate) fn module(&mut self, module: &CodeModule) -> u32 {
        let name = if module.build_id.is_empty() { &module.path } else { &module.build_id };
        if let Some(&number) = self.module_numbers.get(name) {
            return number;
        }
        let number = self.modules.len() as u32;
        self.modules.push(module.clone());
        self.module_numbers.insert(name.clone(), number);
        number
    }

    pub(crate) fn site(&mut self, site: CodeSite) -> u32 {
        let next = self.sites.len() as u32;
        *self.site_numbers.entry(site).or_insert_with(|| {
            self.sites.push(site);
            next
        })
    }
}
