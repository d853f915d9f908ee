//! What a program prints: kept in a file of bounded size, and looked through line by line as it goes by.
//!
//! Takes   a pipe, patterns to look for, a bound.      Gives  a file with the beginning and the end of the output,
//!         and which patterns occurred, also in what was left out.
//! Misses  patterns over several lines, or behind the first 64 KiB of a line.
//! Cost    one thread per stream; memory for as many bytes as the bound on the end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use regex::bytes::Regex;

const LONGEST_LINE: usize = 64 << 10;
/// What may still be in the pipe when the program has ended; whoever goes on writing is not heard any more.
const LEFT_IN_PIPE: usize = 1 << 20;

/// What became of the output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    pub path: PathBuf,
    /// All that was printed, also what is not in the file.
    pub bytes: u64,
    /// Which of the patterns occurred.
    pub matched: Vec<bool>,
}

/// Output that is being read.
#[derive(Debug)]
pub struct Capture {
    reader: JoinHandle<io::Result<Captured>>,
    /// Closed to say that the program has ended.
    running: PipeWriter,
}

impl Capture {
    /// Reads `from` in a thread of its own. Of more than two times `bound` bytes the first and the last are kept.
    pub fn begin(
        from: PipeReader,
        path: &Path,
        patterns: Vec<Regex>,
        bound: usize,
    ) -> io::Result<Capture> {
        let (ended, running) = io::pipe()?;
        let file = Bounded::create(path, bound)?;
        let path = path.to_owned();
        let reader = std::thread::spawn(move || {
            let mut lines = Lines::new(patterns);
            let file = read_all(from, ended, file, &mut lines)?;
            let bytes = file.seen;
            file.finish()?;
            Ok(Captured { path, bytes, matched: lines.finish() })
        });
        Ok(Capture { reader, running })
    }

    /// The program has ended: takes what is left in the pipe.
    pub fn finish(self) -> io::Result<Captured> {
        drop(self.running);
        self.reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader of output died")))
    }
}

/// Reads until nobody can write any more, or the program has ended and the pipe is empty.
fn read_all(
    mut from: PipeReader,
    ended: PipeReader,
    mut file: Bounded,
    lines: &mut Lines,
) -> io::Result<Bounded> {
    let mut buffer = vec![0; 64 << 10];
    let mut left = LEFT_IN_PIPE;
    loop {
        let (readable, is_over) = wait_for(from.as_raw_fd(), ended.as_raw_fd())?;
        if !readable || (is_over && left == 0) {
            return Ok(file);
        }
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(file);
        }
        if is_over {
            left = left.saturating_sub(count);
        }
        lines.take(&buffer[..count]);
        file.take(&buffer[..count]);
    }
}

/// Waits until one of the two has something to say: whether `from` can be read, whether `ended` was closed.
fn wait_for(from: RawFd, ended: RawFd) -> io::Result<(bool, bool)> {
    let forever = -1;
    let mut waited = [from, ended].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    loop {
        // SAFETY: the pointer is to a live local array, of which the length is given.
        let answer = unsafe { libc::poll(waited.as_mut_ptr(), 2, forever) };
        let error = io::Error::last_os_error();
        if answer >= 0 {
            return Ok((waited[0].revents != 0, waited[1].revents != 0));
        }
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// A file that keeps the beginning and the end of what it is given.
struct Bounded {
    file: File,
    bound: usize,
    head_left: usize,
    tail: VecDeque<u8>,
    seen: u64,
    /// The disk was full, say. The program must not notice: its output is read all the same.
    failed: Option<io::Error>,
}

impl Bounded {
    fn create(path: &Path, bound: usize) -> io::Result<Bounded> {
        let file = File::create(path)?;
        Ok(Bounded { file, bound, head_left: bound, tail: VecDeque::new(), seen: 0, failed: None })
    }

    fn take(&mut self, bytes: &[u8]) {
        self.seen += bytes.len() as u64;
        let (head, rest) = bytes.split_at(self.head_left.min(bytes.len()));
        self.head_left -= head.len();
        self.write(head);
        self.tail.extend(&rest[rest.len().saturating_sub(self.bound)..]);
        let too_many = self.tail.len().saturating_sub(self.bound);
        self.tail.drain(..too_many);
    }

    fn write(&mut self, bytes: &[u8]) {
        if self.failed.is_none() {
            self.failed = self.file.write_all(bytes).err();
        }
    }

    fn finish(mut self) -> io::Result<()> {
        let kept = (self.bound - self.head_left + self.tail.len()) as u64;
        let left_out = self.seen - kept;
        if left_out > 0 {
            self.write(format!("\n[unpick: {left_out} bytes are left out here]\n").as_bytes());
        }
        let tail = std::mem::take(&mut self.tail);
        let (one, other) = tail.as_slices();
        self.write(one);
        self.write(other);
        self.failed.map_or(Ok(()), Err)
    }
}

/// Looks for patterns, one line at a time.
struct Lines {
    patterns: Vec<Regex>,
    matched: Vec<bool>,
    line: Vec<u8>,
}

impl Lines {
    fn new(patterns: Vec<Regex>) -> Lines {
        let matched = vec![false; patterns.len()];
        Lines { patterns, matched, line: Vec::new() }
    }

    fn take(&mut self, bytes: &[u8]) {
        if self.patterns.is_empty() {
            return;
        }
        let mut parts = bytes.split(|&byte| byte == b'\n');
        let last = parts.next_back().unwrap_or_default();
        for part in parts {
            self.continue_line(part);
            self.end_line();
        }
        self.continue_line(last);
    }

    fn continue_line(&mut self, part: &[u8]) {
        let room = LONGEST_LINE - self.line.len();
        self.line.extend_from_slice(&part[..part.len().min(room)]);
    }

    fn end_line(&mut self) {
        for (pattern, matched) in self.patterns.iter().zip(&mut self.matched) {
            *matched |= pattern.is_match(&self.line);
        }
        self.line.clear();
    }

    fn finish(mut self) -> Vec<bool> {
        if !self.line.is_empty() {
            self.end_line();
        }
        self.matched
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn captured(parts: &[&[u8]], pattern: &str, bound: usize) -> (Captured, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stdout");
        let (from, mut to) = io::pipe().unwrap();
        let patterns = vec![Regex::new(pattern).unwrap()];
        let capture = Capture::begin(from, &path, patterns, bound).unwrap();
        parts.iter().for_each(|part| to.write_all(part).unwrap());
        // `to` stays open, as if a daemon had it.
        let captured = capture.finish().unwrap();
        let text = std::fs::read_to_string(path).unwrap();
        (captured, text)
    }

    #[test]
    fn little_output_is_kept_as_it_is() {
        let (captured, text) = captured(&[b"one\ntw", b"o\n"], "^two$", 100);
        assert_eq!(text, "one\ntwo\n");
        assert_eq!((captured.bytes, captured.matched), (8, vec![true]));
    }

    #[test]
    fn of_much_output_beginning_and_end_are_kept() {
        let (captured, text) = captured(&[b"0123456789abc\nLOST\nxyz"], "LOST", 4);
        assert_eq!(text, "0123\n[unpick: 14 bytes are left out here]\n\nxyz");
        assert_eq!((captured.bytes, captured.matched), (22, vec![true]));
    }

    #[test]
    fn output_of_exactly_the_bound_is_whole() {
        let (_, text) = captured(&[b"0123", b"4567"], "8", 4);
        assert_eq!(text, "01234567");
    }

    #[test]
    fn a_line_is_looked_at_only_up_to_a_bound() {
        let long = vec![b'x'; LONGEST_LINE + 10];
        let (captured, _) = captured(&[&long, b"end\nshort\n"], "end", 4);
        assert_eq!(captured.matched, [false]);
    }
}
