//! `unpick cc` and `unpick c++`: become the real compiler, with flags that instrument.

use std::ffi::OsString;
use std::process::ExitCode;
use unpick_instrument::cc::{Driver, become_compiler};
use unpick_problem::Problem;

/// For `unpick help cc`; `unpick cc --help` is answered by the compiler.
pub const HELP: &str = "\
Every argument goes to the real compiler, --help and --version too; its files,
messages and exit code are the compiler's own. An executable contains Unpick's
runtime.

Environment:
  UNPICK_CC, UNPICK_CXX   the real compilers, e.g. clang-16 or \"ccache gcc\";
                          else gcc, clang or cc (g++, clang++ or c++)

Examples:
  unpick cc -o bank bank.c -lpthread
  CC=\"unpick cc\" CXX=\"unpick c++\" ./configure && make
  CC=\"unpick cc\" CXX=\"unpick c++\" cmake -B build && cmake --build build

Where a setting holds one word only, call this program by another name:
  ln -s \"$(command -v unpick)\" ~/bin/unpick-cc    (or unpick-c++)
  make CC=unpick-cc";

pub fn run_c(arguments: &[OsString]) -> Result<ExitCode, Problem> {
    Err(become_compiler(Driver::C, arguments))
}

pub fn run_cxx(arguments: &[OsString]) -> Result<ExitCode, Problem> {
    Err(become_compiler(Driver::Cxx, arguments))
}
