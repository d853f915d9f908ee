//! The machine a result belongs to: processor, memory, kernel, tools, date.

use std::fs;
use std::process::Command;

/// One line per fact, ready for a Markdown list; `tools` are asked for their version.
pub fn description(tools: &[&str]) -> Vec<String> {
    let mut facts = vec![
        format!("date: {}", first_line_of("date", &["-u", "+%F"])),
        format!("processor: {}, {} cores", processor(), cores()),
        format!("memory: {}", memory()),
        format!("kernel: {}", first_line_of("uname", &["-sr"])),
    ];
    let version = |tool: &&str| format!("{tool}: {}", first_line_of(tool, &["--version"]));
    facts.extend(tools.iter().map(version));
    facts
}

fn processor() -> String {
    value_in("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown".to_owned())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn memory() -> String {
    let total = value_in("/proc/meminfo", "MemTotal").unwrap_or_default();
    let kib: Option<f64> = total.split_whitespace().next().and_then(|number| number.parse().ok());
    kib.map_or_else(|| "unknown".to_owned(), |kib| format!("{:.1} GiB", kib / 1024.0 / 1024.0))
}

/// The load averages over 1, 5 and 15 minutes: what else ran on these cores.
pub fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

fn value_in(file: &str, key: &str) -> Option<String> {
    value_of(&fs::read_to_string(file).ok()?, key)
}

fn value_of(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with(key))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

/// The first line a command prints, or `not found`.
pub fn first_line_of(command: &str, arguments: &[&str]) -> String {
    let printed = Command::new(command).args(arguments).output().ok();
    let line = printed.and_then(|output| {
        String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
    });
    line.unwrap_or_else(|| "not found".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_stands_behind_its_key() {
        let text = "processor\t: 0\nmodel name\t: Some CPU\nmodel name\t: Other\n";
        assert_eq!(value_of(text, "model name").as_deref(), Some("Some CPU"));
        assert_eq!(value_of(text, "absent"), None);
    }

    #[test]
    fn a_missing_tool_is_not_an_error() {
        assert_eq!(first_line_of("no-such-tool-anywhere", &[]), "not found");
    }
}
