//! Modules of a process, in terms that hold beyond it.

use unpick_recording::{Module, Recording};

use super::result::CodeModule;

/// The module at an address. Of two that were there one after the other, the later is likelier.
pub fn module_at(recording: &Recording, address: u64) -> Option<&Module> {
    recording.modules().iter().rev().find(|module| module.contains(address))
}

/// A loaded module in the terms of its file.
pub fn code_module(module: &Module) -> CodeModule {
    CodeModule {
        build_id: module.build_id.clone(),
        path: module.path.clone(),
        lowest: module.lowest.wrapping_sub(module.bias),
        length: module.length,
    }
}
