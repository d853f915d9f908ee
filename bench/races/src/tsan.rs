//! gcc's ThreadSanitizer.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;

use crate::command::{build, empty, output};
use crate::detector::{Detector, Report};
use crate::programs::Program;

pub struct Tsan {
    folder: PathBuf,
}

impl Tsan {
    pub fn new(work: &Path) -> Result<Tsan, Problem> {
        let folder = work.join("tsan");
        empty(&folder)?;
        Ok(Tsan { folder })
    }
}

impl Detector for Tsan {
    fn build(&self, program: &Program) -> Result<PathBuf, Problem> {
        let built = self.folder.join(program.name());
        let (arguments, into) = (program.arguments(), built.display().to_string());
        let mut command = vec![program.compiler(), "-fsanitize=thread", "-Wno-tsan"];
        command.extend(arguments.iter().map(String::as_str));
        command.extend(["-o", &into]);
        build(&command, &self.folder)?;
        Ok(built)
    }

    fn look(&self, _: &Program, built: &Path) -> Result<Option<Vec<Report>>, Problem> {
        let output = output(&[&built.display().to_string()], &self.folder)?;
        Ok(reports(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// None: it could not run.
fn reports(text: &str) -> Option<Vec<Report>> {
    if text.contains("FATAL: ThreadSanitizer") {
        return None;
    }
    let parts = text.split("WARNING: ThreadSanitizer: ").skip(1);
    Some(
        parts
            .map(|part| Report { places: places(part), text: part.to_owned(), is_compared: true })
            .collect(),
    )
}

/// Every `name.c:12` in lines like `#0 work racy/name.c:12 (name+0x11d0)`.
fn places(text: &str) -> BTreeSet<String> {
    let words = text.split_whitespace().filter(|word| word.contains(':'));
    let name = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    words.map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_a_report_with_the_places_of_its_stacks() {
        let text = "==================\nWARNING: ThreadSanitizer: data race (pid=1)\n  Read of size 4 at 0x1 by main thread:\n    \
            #0 main /src/racy/a.c:3 (a+0x12)\nWARNING: ThreadSanitizer: data race (pid=1)\n    #0 f b.c:7 (a+0x99)\n";
        let reports = reports(text).unwrap();
        assert_eq!(reports.len(), 2);
        assert!(reports[0].places.contains("a.c:3") && !reports[0].places.contains("b.c:7"));
        assert!(reports[1].places.contains("b.c:7"));
    }

    #[test]
    fn who_cannot_run_says_nothing() {
        assert!(reports("FATAL: ThreadSanitizer: unexpected memory mapping").is_none());
        assert!(reports("all is well").unwrap().is_empty());
    }
}
