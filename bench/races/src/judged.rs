//! Every small program, by every detector.

use unpick_problem::Problem;

use crate::detector::{Detector, Said};
use crate::options::Options;
use crate::own::Own;
use crate::programs::{Program, programs};
use crate::tsan::Tsan;

/// A program and what was said about it.
pub struct Judged {
    pub program: Program,
    pub own: Said,
    pub tsan: Said,
}

impl Judged {
    pub fn own_is_right(&self) -> bool {
        self.own.is_right(self.program.verdict)
    }

    pub fn tsan_is_right(&self) -> bool {
        self.tsan.is_right(self.program.verdict)
    }

    /// As right as the peer, or more.
    pub fn is_no_worse(&self) -> bool {
        self.own_is_right() || !self.tsan_is_right()
    }

    /// The peer is wrong in the way that the table says.
    pub fn is_explained(&self) -> bool {
        let mistake = self.program.peer.as_ref().map(|peer| peer.verdict);
        self.tsan_is_right() && mistake.is_none() || self.tsan.verdict() == mistake
    }
}

pub fn judge_all(options: &Options) -> Result<Vec<Judged>, Problem> {
    let work = options.work();
    let own = Own::new(&options.unpick()?, &work)?;
    let tsan = Tsan::new(&work)?;
    let mut judged = Vec::new();
    for program in programs().into_iter().filter(|program| options.takes(&program.name())) {
        let said = |detector: &dyn Detector| Said::by(detector, &program, options.runs);
        let (own, tsan) = (said(&own)?, said(&tsan)?);
        let one = Judged { own, tsan, program };
        one.tell(options.verbose);
        judged.push(one);
    }
    Ok(judged)
}

impl Judged {
    fn tell(&self, verbose: bool) {
        let truth = self.program.verdict;
        let words = |said: &Said| said.words(truth);
        eprintln!(
            "{}: {}; Unpick: {}, ThreadSanitizer: {}",
            self.program.name(),
            truth.name(),
            words(&self.own),
            words(&self.tsan)
        );
        let example = self.own.example.as_ref().filter(|_| verbose && !self.own_is_right());
        if let Some(text) = example {
            eprintln!("    {text}");
        }
    }
}
