//! What is known about the program's memory: who touched which bytes last.

pub mod cell;
mod granule;
pub mod meet;
mod past_list;
pub mod pool;
pub mod quick;
pub mod range;
pub mod recent;
pub mod region;
mod sets;
mod shapes;
pub mod silent;
pub mod touch;

pub use touch::{Access, touch};
