//! What is known about the program's memory: who touched which bytes last.

pub mod cell;
pub mod meet;
pub mod pool;
pub mod quick;
pub mod range;
pub mod recent;
pub mod region;
pub mod silent;
pub mod touch;

pub use touch::{Access, touch};
