pub trait Post<T> {
    fn post(&self, amount: T);
}

impl<T> Post<u64> for Ledger<T> {
    fn post(&self, amount: u64) {
        self.entries.fetch_add(1, Ordering::Relaxed);
        self.total.fetch_add(amount, Ordering::Relaxed);
    }
}

impl<T> Ledger<T> {
    pub fn average(&self) -> u64 {
        let entries = self.entries.load(Ordering::Relaxed);
        let total = self.total.load(Ordering::Relaxed);
        total / entries
    }
}
