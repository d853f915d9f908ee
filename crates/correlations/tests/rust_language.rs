//! The parts of Rust in which fields and statics are touched, one by one.

mod rust_support;

use rust_support::accesses;

const TYPES: &str = "
    struct Stats { pushed: usize, popped: usize, open: bool }
    struct Pool { stats: Mutex<Stats>, all: Vec<Stats>, count: Mutex<usize>, jobs: RwLock<VecDeque<u32>>,
                  best: Option<Box<Stats>>, mode: Mode, hits: AtomicUsize, by_name: HashMap<String, Stats> }
    struct Owner { pool: Arc<Pool>, inner: Arc<Mutex<Stats>> }
    struct Other { pushed: u32, stats: u32 }
    enum Mode { Idle, Busy { since: u64, by: u32 }, Done(u64) }
";

#[track_caller]
fn assert_accesses(text: &str, function: &str, expected: &[&str]) {
    assert_eq!(accesses(&(TYPES.to_owned() + text), function), expected);
}

#[test]
fn fields_behind_locks_that_are_taken_on_the_way() {
    let text = "impl Owner { fn f(&self) {
        self.inner.lock().unwrap().pushed += 1;
        self.pool.stats.lock().unwrap().popped = 2;
        *self.pool.count.lock().unwrap() = 3;
        self.pool.jobs.write().unwrap().push_back(4);
        self.pool.jobs.read().unwrap().len();
    } }";
    let expected = [
        "rw Stats::pushed",
        "r Owner::inner",
        "w Stats::popped",
        "r Pool::stats",
        "w Pool::count",
        "w Pool::jobs",
        "r Pool::jobs",
    ];
    assert_accesses(text, "Owner::f", &expected);
}

#[test]
fn guards_and_references_that_have_a_name_for_a_while() {
    let text = "fn f(pool: &Pool, owned: &mut Owner) {
        let mut stats = pool.stats.lock().unwrap();
        stats.pushed = 1;
        let mut count = pool.count.lock().unwrap();
        *count += 1;
        let mut jobs = pool.jobs.write().unwrap();
        jobs.push_back(2);
        { let stats = Other::new(); stats.pushed = 3; }
        stats.popped = 4;
        drop(count);
    }";
    let expected = [
        "r Pool::stats",
        "w Stats::pushed",
        "r Pool::count",
        "rw Pool::count",
        "r Pool::jobs",
        "w Pool::jobs",
        "w Other::pushed",
        "w Stats::popped",
    ];
    assert_accesses(text, "f", &expected);
}

#[test]
fn patterns_name_fields() {
    let text = "impl Pool { fn f(&mut self, Stats { pushed, .. }: &mut Stats) {
        *pushed = 1;
        let Pool { hits, count: n, .. } = self;
        hits.store(1, Relaxed);
        if let Some(stats) = &mut self.best { stats.open = true; }
        match &mut self.mode {
            Mode::Busy { since, .. } => *since += 1,
            Mode::Done(at) => { *at = 2; }
            Mode::Idle => {}
        }
    } }";
    let expected = [
        "r Stats::pushed",
        "w Stats::pushed",
        "r Pool::hits",
        "r Pool::count",
        "w Pool::hits",
        "a Pool::best",
        "w Stats::open if Pool::best == Some",
        "a Pool::mode",
        "r Mode::Busy::since if Pool::mode == Mode::Busy",
        "rw Mode::Busy::since if Pool::mode == Mode::Busy",
        "r Mode::Done::0 if Pool::mode == Mode::Done",
        "w Mode::Done::0 if Pool::mode == Mode::Done",
    ];
    assert_accesses(text, "Pool::f", &expected);
}

#[test]
fn what_is_moved_out_by_a_pattern_is_no_field_any_more() {
    let text = "fn f(pool: Pool) { let Pool { all, .. } = pool; all.clear(); }";
    assert_accesses(text, "f", &["r Pool::all"]);
}

#[test]
fn elements_of_collections_have_fields() {
    let text = "impl Pool { fn f(&mut self, name: &str) {
        self.all[0].pushed = 1;
        for stats in &mut self.all { stats.popped = 2; }
        self.all.iter_mut().for_each(|stats| stats.open = true);
        self.by_name.get_mut(name).unwrap().pushed += 1;
        self.by_name.entry(name).or_default().popped -= 1;
    } }";
    let expected = [
        "w Stats::pushed",
        "a Pool::all",
        "w Stats::popped",
        "r Pool::all",
        "w Stats::open",
        "rw Stats::pushed",
        "r Pool::by_name",
        "rw Stats::popped",
        "w Pool::by_name",
    ];
    assert_accesses(text, "Pool::f", &expected);
}

#[test]
fn closures_threads_and_async_belong_to_their_function() {
    let text = "async fn f(pool: Arc<Pool>, shared: Shared) {
        let other = Arc::clone(&pool);
        thread::spawn(move || { other.stats.lock().unwrap().pushed = 1; });
        shared.lock().await.popped = 2;
        let later = async { pool.hits.fetch_add(1, Relaxed) };
    }
    type Shared = Arc<tokio::sync::Mutex<Stats>>;";
    let expected = ["w Stats::pushed", "r Pool::stats", "w Stats::popped", "rw Pool::hits"];
    assert_accesses(text, "f", &expected);
}

#[test]
fn methods_of_the_code_base_change_their_object_if_they_say_so() {
    let text = "struct Log { lines: Vec<u32> } struct Server { log: Log, seen: Log }
        impl Log { fn admit(&mut self, n: u32) { self.lines.push(n); } fn insert(&self) {} }
        impl Server { fn f(&mut self) { self.log.admit(1); self.seen.insert(); self.find().lines.clear(); }
                      fn find(&self) -> &Log { &self.log } }";
    assert_accesses(text, "Server::f", &["rw Server::log", "r Server::seen", "w Log::lines"]);
}

#[test]
fn traits_and_their_default_methods() {
    let text = "trait Count { fn bump(&mut self); fn reset(stats: &mut Stats) { stats.popped = 0; } }
        impl Count for Stats { fn bump(&mut self) { self.pushed += 1; } }
        impl AddAssign for Stats { fn add_assign(&mut self, other: Self) { self.popped += other.popped; } }";
    assert_accesses(text, "Count::reset", &["w Stats::popped"]);
    assert_accesses(text, "Stats::bump", &["rw Stats::pushed"]);
    assert_accesses(text, "Stats::add_assign", &["r Stats::popped", "rw Stats::popped"]);
}

#[test]
fn tuple_structs_generics_and_unions() {
    let text = "struct Pair<T>(T, Vec<T>); union Bits { whole: u32, half: [u16; 2] }
        impl<T: Clone> Pair<T> { fn f(&mut self, bits: &mut Bits) {
            self.0 = self.1[0].clone();
            unsafe { bits.half[1] = bits.whole as u16; }
        } }";
    let expected = ["r Pair::1", "w Pair::0", "r Bits::whole", "w Bits::half"];
    assert_accesses(text, "Pair::f", &expected);
}

#[test]
fn statics_of_all_kinds() {
    let text = "static mut COUNT: usize = 0; static TOTAL: AtomicUsize = AtomicUsize::new(0);
        static STATE: Mutex<Stats> = Mutex::new(Stats::new()); static CONFIG: OnceLock<Stats> = OnceLock::new();
        thread_local! { static DEPTH: Cell<usize> = const { Cell::new(0) }; pub static NAMES: RefCell<Vec<u32>> = RefCell::default(); }
        lazy_static! { static ref TABLE: Mutex<Vec<u32>> = Mutex::new(vec![]); }
        fn f() {
            unsafe { COUNT += 1; }
            TOTAL.fetch_add(1, Relaxed);
            STATE.lock().unwrap().pushed = CONFIG.get().unwrap().popped;
            CONFIG.set(Stats::new());
            DEPTH.with(|depth| depth.set(depth.get() + 1));
            NAMES.with_borrow_mut(|names| names.push(1));
            TABLE.lock().unwrap().clear();
        }";
    let expected = [
        "rw COUNT",
        "rw TOTAL",
        "r Stats::popped",
        "r CONFIG",
        "w Stats::pushed",
        "r STATE",
        "w CONFIG",
        "r DEPTH",
        "w DEPTH",
        "r DEPTH",
        "r NAMES",
        "w NAMES",
        "w TABLE",
    ];
    assert_accesses(text, "f", &expected);
}

#[test]
fn conditions_are_those_of_branches_early_ends_arms_and_loops() {
    let text = "impl Pool { fn f(&mut self, stats: &mut Stats) -> u32 {
        if self.hits.load(Relaxed) == 2 { stats.pushed = 1; } else { stats.pushed = 2; }
        if !stats.open { return 0; }
        stats.popped = 3;
        let Some(best) = &self.best else { return 1 };
        while !self.all.is_empty() { stats.pushed = 4; }
        match stats.open { true => stats.popped = 5, _ => {} }
        2
    } }";
    let open = "Stats::open and Pool::best == Some";
    let expected = [
        "r Pool::hits",
        "w Stats::pushed if Pool::hits == 2",
        "w Stats::pushed if Pool::hits != 2",
        "r Stats::open",
        "w Stats::popped if Stats::open",
        "r Pool::best if Stats::open",
        &format!("r Pool::all if {open}"),
        &format!("w Stats::pushed if {open} and !Pool::all.is_empty()"),
        &format!("r Stats::open if {open}"),
        &format!("w Stats::popped if {open}"),
    ];
    assert_accesses(text, "Pool::f", &expected);
}

#[test]
fn macros_whose_arguments_are_values() {
    let text = "fn f(stats: &Stats) {
        println!(\"{} {n}\", stats.pushed, n = stats.popped);
        let all = vec![stats.pushed; 3];
        assert!(matches!(stats.open, true), \"{}\", stats.popped);
    }";
    let expected = [
        "r Stats::pushed",
        "r Stats::popped",
        "r Stats::pushed",
        "r Stats::open",
        "r Stats::popped",
    ];
    assert_accesses(text, "f", &expected);
}

#[test]
fn a_type_of_the_code_base_may_be_called_like_one_of_the_library() {
    let text =
        "struct Cell { word: u64, time: u32 } impl Cell { fn f(&mut self) { self.word = 1; } }";
    assert_accesses(text, "Cell::f", &["w Cell::word"]);
}
