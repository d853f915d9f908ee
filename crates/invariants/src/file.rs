//! The invariants file: TOML that people can read, edit and keep with their source.
//!
//! Takes   TOML, trusted in nothing.      Gives  `Invariants` that make sense in themselves, or a problem that names the line.
//!
//! ```toml
//! invariants = 1
//! program = "bank"
//! command = "-- ./bank 100"
//! runs = 37
//! unchanged = 10
//!
//! [[site]]
//! function = "deposit"
//! file = "bank.c"
//! line = 13
//! text = "account.balance = old + amount;"
//! deed = "write"
//! runs = 37
//! checked = 370
//! challenged = 12
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use unpick_analyses::invariants::{Checks, Trained};
use unpick_problem::Problem;

use crate::hardware::Hardware;
use crate::invariants::{Invariants, Labels};
use crate::site::{SiteKey, SiteWords};

/// The version of the form that is written, and the only one that is read.
pub const INVARIANTS_VERSION: u32 = 1;

const ABOUT: &str = "\
# Invariants that unpick has learned: which accesses no other thread came before, in runs that passed.
#
#   unpick watch -- PROGRAM           reports every access where one does
#   unpick train -- PROGRAM           learns more
#   unpick invariants --merge A B     puts what was learned on two machines together
#
# Sites are found again in a rebuilt program by function and by the text of the line, so lines may move. A site that passing runs have
# violated holds no invariant; it is kept so that it stays out.

";

#[derive(Deserialize)]
struct Version {
    invariants: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Form<S> {
    invariants: u32,
    program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    /// Passing runs.
    runs: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    unchanged: u32,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    leaves_after: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    builds: Vec<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    labels: Labels,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hardware: Option<Hardware>,
    #[serde(default = "Vec::new", rename = "site", skip_serializing_if = "Vec::is_empty")]
    sites: Vec<S>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct FormSite {
    /// None: that of the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    module: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deed: Option<String>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    occurrence: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset: Option<u64>,
    runs: u32,
    #[serde(default, skip_serializing_if = "is_zero")]
    violated_runs: u32,
    checked: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    challenged: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    violated: u64,
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn is_zero<N: Default + PartialEq>(number: &N) -> bool {
    *number == N::default()
}

fn is_default(labels: &Labels) -> bool {
    *labels == Labels::default()
}

impl Invariants {
    /// Reads a file; `name` says in problems where it came from.
    pub fn from_toml(text: &str, name: &str) -> Result<Invariants, Problem> {
        let damaged = |error: toml::de::Error| unreadable(name, error.to_string().trim_end());
        // The version is looked at first: another one may have other keys.
        let version: Version = toml::from_str(text).map_err(damaged)?;
        if version.invariants != INVARIANTS_VERSION {
            return Err(other_version(name, version.invariants));
        }
        let form: Form<Spanned<FormSite>> = toml::from_str(text).map_err(damaged)?;
        let line_at = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
        read(form, line_at).map_err(|why| unreadable(name, &why))
    }

    /// As TOML, for people too. Sites by module, file and line.
    ///
    /// # Panics
    /// Never: there is nothing in it that TOML cannot say.
    pub fn to_toml(&self) -> String {
        let mut sites: Vec<_> = self.sites.values().collect();
        sites.sort_by_key(|(words, _)| (&words.module, &words.file, words.line));
        let form = Form {
            invariants: INVARIANTS_VERSION,
            program: self.program.clone(),
            command: self.command.clone(),
            runs: self.runs,
            unchanged: self.unchanged,
            leaves_after: self.leaves_after,
            builds: self.builds.iter().cloned().collect(),
            labels: self.labels.clone(),
            hardware: self.hardware,
            sites: sites.into_iter().map(|site| self.form_of(site)).collect(),
        };
        let text = toml::to_string_pretty(&form).expect("keys are texts, numbers are small");
        format!("{ABOUT}{text}")
    }

    fn form_of(&self, (words, trained): &(SiteWords, Trained)) -> FormSite {
        let SiteWords { file, function, line, text, deed, occurrence, offset, .. } = words.clone();
        FormSite {
            module: Some(words.module.clone()).filter(|module| *module != self.program),
            function,
            file,
            line,
            text,
            deed,
            occurrence,
            offset,
            runs: trained.runs,
            violated_runs: trained.violated_runs,
            checked: bounded(trained.checks.checked),
            challenged: bounded(trained.checks.challenged),
            violated: bounded(trained.checks.violated),
        }
    }
}

/// TOML's numbers have a sign.
fn bounded(number: u64) -> u64 {
    number.min(i64::MAX as u64)
}

fn read(
    form: Form<Spanned<FormSite>>,
    line_at: impl Fn(usize) -> usize,
) -> Result<Invariants, String> {
    if form.program.is_empty() {
        return Err("`program` is empty: whose invariants are they?".to_owned());
    }
    if form.leaves_after == 0 {
        return Err("`leaves-after` counts from 1".to_owned());
    }
    if form.hardware.is_some_and(|hardware| hardware.shape().is_none()) {
        return Err(format!("`hardware`: {}", Hardware::RULE));
    }
    let mut sites: BTreeMap<SiteKey, (SiteWords, Trained)> = BTreeMap::new();
    let mut lines: BTreeMap<SiteKey, usize> = BTreeMap::new();
    for site in form.sites {
        let line = line_at(site.span().start);
        let (words, trained) = checked_site(site.into_inner(), &form.program, form.runs)
            .map_err(|why| format!("line {line}: {why}"))?;
        // Never executed: there is nothing to know about it.
        if trained.runs == 0 {
            continue;
        }
        let key = words.key();
        if let Some(first) = lines.insert(key.clone(), line) {
            return Err(format!(
                "line {line}: the same site as in line {first}: put their numbers together, or remove one"
            ));
        }
        sites.insert(key, (words, trained));
    }
    Ok(Invariants {
        program: form.program,
        command: form.command,
        labels: form.labels,
        hardware: form.hardware,
        leaves_after: form.leaves_after,
        runs: form.runs,
        unchanged: form.unchanged,
        builds: form.builds.into_iter().collect(),
        sites,
    })
}

fn checked_site(site: FormSite, program: &str, runs: u32) -> Result<(SiteWords, Trained), String> {
    if site.function.is_none() && site.file.is_none() && site.offset.is_none() {
        return Err("a site needs a `function`, a `file` or an `offset`".to_owned());
    }
    if site.line == Some(0) {
        return Err("lines count from 1".to_owned());
    }
    let bounds = [
        ("violated-runs", site.violated_runs.into(), "runs", u64::from(site.runs)),
        ("runs", site.runs.into(), "all runs", runs.into()),
        ("challenged", site.challenged, "checked", site.checked),
        ("violated", site.violated, "challenged", site.challenged),
    ];
    for (less, few, more, many) in bounds {
        if few > many {
            return Err(format!("`{less}` is {few}, but {more} only {many}"));
        }
    }
    let words = SiteWords {
        module: site.module.unwrap_or_else(|| program.to_owned()),
        file: site.file,
        function: site.function,
        line: site.line,
        text: site.text,
        deed: site.deed,
        occurrence: site.occurrence,
        offset: site.offset,
    };
    let checks =
        Checks { checked: site.checked, challenged: site.challenged, violated: site.violated };
    Ok((words, Trained { runs: site.runs, violated_runs: site.violated_runs, checks }))
}

fn unreadable(name: &str, why: &str) -> Problem {
    Problem::usage("the invariants cannot be used")
        .at("file", name)
        .why(why.replace('\n', "\n        "))
        .next("correct the file, or move it away and train again: unpick train -- PROGRAM; it was left as it is")
}

fn other_version(name: &str, version: u32) -> Problem {
    Problem::usage(format!(
        "the invariants have version {version}, this build reads version {INVARIANTS_VERSION}"
    ))
    .at("file", name)
    .why("they were made by another version of unpick")
    .next("use the version of unpick that made them, or train again into another file: --file OTHER.toml")
}
