//! Code and memory of a process that hung, in terms that hold beyond it.

use unpick_events::{Address, Context, Site};
use unpick_recording::Recording;

use crate::interleaving_patterns::{Blocks, CodeSite, code_module, module_at};
use crate::knowledge::Knowledge;
use crate::locks_held::HeldLock;
use crate::ranking::{CodeBook, ExampleBlock, ExampleLock, ExampleMemory};

use super::{SeenCalls, Whereabouts};

pub struct Terms<'t> {
    code: &'t mut CodeBook,
    recording: &'t Recording,
    knowledge: &'t dyn Knowledge,
    blocks: Blocks,
}

impl<'t> Terms<'t> {
    pub fn new(
        code: &'t mut CodeBook,
        recording: &'t Recording,
        knowledge: &'t dyn Knowledge,
    ) -> Terms<'t> {
        Terms { code, recording, knowledge, blocks: Blocks::of(recording) }
    }

    pub fn place(&mut self, site: Site, context: Context, is_now: bool) -> Whereabouts {
        let stack = self.stack(context);
        // What is told of a thread as a whole has no site.
        let site = (site.0 != 0).then(|| self.site(site));
        Whereabouts { site, stack, is_now }
    }

    /// Where code of the program cannot be, the innermost call has to do.
    pub fn place_in_memory(&mut self, calls: &SeenCalls) -> Whereabouts {
        let mut stack: Vec<u32> = calls.sites.iter().map(|&site| self.site(site)).collect();
        let inside = calls.inside.and_then(|address| self.site_at(address));
        let site = inside.or_else(|| stack.pop());
        Whereabouts { site, stack, is_now: true }
    }

    /// Whether a site lies in another module than the innermost function that has hooks.
    pub fn is_inside_library(&self, site: Site, calls: &SeenCalls) -> bool {
        let bias_at =
            |address: Option<u64>| Some(module_at(self.recording, address?.checked_sub(1)?)?.bias);
        let modules = (bias_at(self.knowledge.return_address(site)), bias_at(calls.inside));
        matches!(modules, (Some(called), Some(caller)) if called != caller)
    }

    pub fn lock(&mut self, held: &HeldLock) -> ExampleLock {
        ExampleLock {
            memory: self.memory(held.lock),
            kind: held.kind.name().to_owned(),
            shared: held.shared,
            site: self.site(held.site),
            stack: self.stack(held.context),
            acquisition: Some(held.acquisition),
        }
    }

    /// A static variable, or in a heap block if no other was ever there, or just an address.
    pub fn memory(&mut self, Address(address): Address) -> ExampleMemory {
        if let Some(module) = module_at(self.recording, address) {
            let offset = address.wrapping_sub(module.bias);
            return ExampleMemory::Static {
                module: self.code.module(&code_module(module)),
                offset,
            };
        }
        let Some(block) = self.blocks.only_one_at(address) else {
            return ExampleMemory::Other { address };
        };
        let (site, stack) = (self.site(block.site), self.stack(block.context));
        let offset = address - block.address.0;
        ExampleMemory::Heap { block: ExampleBlock { site, stack, size: block.size }, offset }
    }

    fn site(&mut self, site: Site) -> u32 {
        let address = self.knowledge.return_address(site).unwrap_or(u64::from(site.0));
        let known = self.site_at(address);
        known.unwrap_or_else(|| self.code.site(CodeSite { module: None, offset: address }))
    }

    /// A return address in code that is known.
    fn site_at(&mut self, address: u64) -> Option<u32> {
        // A return address can be one past the end of its module.
        let module = module_at(self.recording, address.checked_sub(1)?)?;
        let number = self.code.module(&code_module(module));
        let offset = address.wrapping_sub(module.bias);
        Some(self.code.site(CodeSite { module: Some(number), offset }))
    }

    fn stack(&mut self, context: Context) -> Vec<u32> {
        let recording = self.recording;
        let sites = recording.stacks().get(context).unwrap_or(&[]);
        sites.iter().map(|&site| self.site(site)).collect()
    }
}
