//! A web server that keeps the connections of its clients, as `jigsaw`: a factory counts them, a list has those that are
//! idle. Connections serve requests and then go into the list; an administrator closes what is idle now and then.
//!
//! A connection that has finished locks the list and then the counts, to count itself. The administrator locks the
//! counts and then the list. Now and then each has its first lock, and both wait for ever.

use std::hint::black_box;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use unpick_breakpoint::{Breakpoint, trigger};

#[derive(Default)]
struct Counts {
    busy: u64,
    killed: u64,
}

#[derive(Default)]
struct SocketClientFactory {
    counts: Mutex<Counts>,
    idle: Mutex<Vec<u64>>,
}

impl SocketClientFactory {
    /// A connection is at work again: it is not idle any more.
    fn client_connection_started(&self, client: u64) {
        self.idle.lock().unwrap().retain(|other| *other != client);
        self.counts.lock().unwrap().busy += 1;
    }

    fn client_connection_finished(&self, client: u64) {
        if cfg!(feature = "fixed") {
            self.decrement_busy_count();
        }
        let mut idle = self.idle.lock().unwrap(); /* BUG: 1 */
        idle.push(client);
        if !cfg!(feature = "fixed") {
            trigger!(Breakpoint::deadlock("finished-and-killed", &self.idle, &self.counts).first());
            self.decrement_busy_count();
        }
    }

    fn decrement_busy_count(&self) {
        let mut counts = self.counts.lock().unwrap(); /* BUG: 2 */
        counts.busy -= 1;
    }

    /// Closes what is idle.
    fn kill_clients(&self) {
        let mut counts = self.counts.lock().unwrap(); /* BUG: 3 */
        trigger!(Breakpoint::deadlock("finished-and-killed", &self.counts, &self.idle).second());
        let mut idle = self.idle.lock().unwrap(); /* BUG: 4 */
        counts.killed += idle.len() as u64;
        idle.clear();
    }
}

#[derive(Default)]
struct Statistics {
    requests: u64,
    checksum: u64,
}

#[derive(Default)]
struct Server {
    factory: SocketClientFactory,
    statistics: Mutex<Statistics>,
}

fn work(seed: u64, rounds: u64) -> u64 {
    (0..rounds).fold(seed, |page, round| {
        (page ^ round).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(11)
    })
}

fn serve(server: &Server, client: u64, requests: u64) {
    for request in 0..requests {
        server.factory.client_connection_started(client);
        let page = work(client * 1000 + request, 10_000);
        let mut statistics = server.statistics.lock().unwrap();
        statistics.requests += 1;
        statistics.checksum ^= page;
        drop(statistics);
        server.factory.client_connection_finished(client);
    }
}

fn administrate(server: &Server, commands: u64) {
    for command in 0..commands {
        black_box(work(command, 15_000));
        server.factory.kill_clients();
    }
}

fn start(server: &Arc<Server>, task: impl FnOnce(&Server) + Send + 'static) -> JoinHandle<()> {
    let server = Arc::clone(server);
    thread::spawn(move || task(&server))
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let requests = arguments.next().unwrap_or(300);
    let commands = arguments.next().unwrap_or(200);
    let server = Arc::new(Server::default());
    let threads = [
        start(&server, move |server| serve(server, 0, requests)),
        start(&server, move |server| serve(server, 1, requests)),
        start(&server, move |server| administrate(server, commands)),
    ];
    for thread in threads {
        thread.join().unwrap();
    }
    let statistics = server.statistics.lock().unwrap();
    println!("{} requests, checksum {:016x}", statistics.requests, statistics.checksum);
    let busy = server.factory.counts.lock().unwrap().busy;
    if statistics.requests != 2 * requests || busy != 0 {
        eprintln!("FAILED: requests were lost");
        std::process::exit(1);
    }
}
