//! Numbers that look random and are the same every time.

/// A generator of numbers that look random.
pub struct Random(pub u64);

impl Random {
    /// Less than `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}
