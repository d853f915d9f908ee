//! Whether a pattern is the true one: the same accesses, by the same roles, on the lines that carry the markers.

use std::path::PathBuf;

use unpick_analyses::ranking::{Conclusion, Example, Ranked};
use unpick_findings::{Finding, Frame, Names, Place, Supporter};
use unpick_subjects::Subject;

/// Role, line in the subject's source. What each access does is said by the pattern.
type Step = (u8, u32);

/// The true pattern of a subject.
pub struct Truth {
    /// The pattern, and others that say the same of the same accesses.
    patterns: Vec<String>,
    source: PathBuf,
    steps: Vec<Step>,
}

impl Truth {
    /// None for a subject that never fails.
    pub fn of(subject: &Subject) -> Option<Truth> {
        let lines = subject.lines();
        let step = |access: &unpick_subjects::Access| (access.role, lines[&access.marker]);
        let steps = subject.accesses.iter().map(step).collect();
        let source = PathBuf::from(&subject.name).join(&subject.source);
        let patterns: Vec<_> = subject.patterns().map(str::to_owned).collect();
        (!patterns.is_empty()).then_some(Truth { patterns, source, steps })
    }

    pub fn leads(&self, finding: &Finding) -> bool {
        let steps = finding.accesses.iter().map(|access| {
            let frames = [&access.frame].into_iter().chain(&access.inlined_into);
            (access.role, self.line_among(frames.chain(&access.stack)))
        });
        self.is_told_by(&finding.pattern, steps)
    }

    /// Whether the true pattern is in the finding, in front or behind.
    pub fn is_in(&self, finding: &Finding) -> bool {
        let supports = |supporter: &Supporter| {
            let steps = supporter.accesses.iter();
            let steps = steps.map(|access| (access.role, self.line_among([&access.frame])));
            self.is_told_by(&supporter.pattern, steps)
        };
        self.leads(finding) || finding.supporters.iter().any(supports)
    }

    /// Whether a pattern by these roles on these lines of the source is the true one.
    fn is_told_by(&self, pattern: &str, steps: impl Iterator<Item = (u8, Option<u32>)>) -> bool {
        let is_known = self.patterns.iter().any(|known| known == pattern);
        is_known && steps.eq(self.steps.iter().map(|&(role, line)| (role, Some(line))))
    }

    /// The best place of the true pattern in the ranking.
    pub fn place_in(&self, conclusion: &Conclusion, names: &dyn Names) -> Option<usize> {
        let with_evidence = conclusion.ranked.iter().zip(&conclusion.evidence);
        let examples = with_evidence.map(|(ranked, evidence)| (ranked, evidence.example.as_ref()));
        examples.into_iter().position(|(ranked, example)| {
            example.is_some_and(|example| self.is_at(ranked, example, conclusion, names))
        })
    }

    fn is_at(
        &self,
        ranked: &Ranked,
        example: &Example,
        conclusion: &Conclusion,
        names: &dyn Names,
    ) -> bool {
        let code = &conclusion.code;
        let steps = ranked.key.pattern.steps().iter().zip(&example.accesses);
        let steps = steps.map(|(step, access)| {
            let places = |site: u32| names.place(code.sites[site as usize], code);
            (step.role, self.line_of(access.site, &access.stack, &places))
        });
        self.is_told_by(&ranked.key.pattern.name(), steps)
    }

    /// The line of the subject's source at a site, or else of the innermost call that led there from it.
    pub fn line_of(&self, site: u32, stack: &[u32], places: &dyn Fn(u32) -> Place) -> Option<u32> {
        let calls = stack.iter().rev().copied();
        [site].into_iter().chain(calls).find_map(|site| {
            let place = places(site);
            self.line_among([&place.frame].into_iter().chain(&place.inlined_into))
        })
    }

    /// The lines of the true accesses, in their order.
    pub fn lines(&self) -> impl Iterator<Item = u32> {
        self.steps.iter().map(|&(_, line)| line)
    }

    /// The line of the first frame that is in the subject's source.
    fn line_among<'f>(&self, frames: impl IntoIterator<Item = &'f Frame>) -> Option<u32> {
        frames.into_iter().find(|frame| self.is_in_source(frame))?.line
    }

    fn is_in_source(&self, frame: &Frame) -> bool {
        frame.file.as_ref().is_some_and(|file| PathBuf::from(file).ends_with(&self.source))
    }
}
