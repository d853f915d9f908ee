//! Packs an archive as an export is packed.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

/// A tar archive, packed as an export is: so a mutant gets past gzip.
pub fn packed(tar: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(tar).unwrap();
    gzip.finish().unwrap()
}
