//! Memory functions as clang and rustc call them.

use super::hooks;
use crate::intercept::memory::{copy, fill, move_bytes};

hooks! { "rcx":
    __tsan_memcpy => copy,
    __tsan_memmove => move_bytes,
    __tsan_memset => fill,
}
