//! Runs as one file that can be given away: a tar archive in gzip.
//!
//! Takes   what is to be in it, piece by piece; or such a file, trusted in nothing.
//! Gives   the file, the same bytes for the same pieces; or a store with all of it, or nothing.
//! Must not know  what names and findings say: for it they are bytes.
//!
//! `docs/design/0009-portable-export.md` says why, and what is in it.

mod manifest;
mod pack;
mod piece;
mod private_paths;
mod unpack;

pub use manifest::Manifest;
pub use pack::Packer;
pub use piece::Piece;
pub use private_paths::PrivatePaths;
pub use unpack::{Unpacked, unpack};
