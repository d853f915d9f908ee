//! Tells code of the language's own libraries from the user's.

use crate::place::Frame;

const LIBRARY_FOLDERS: [&str; 7] = [
    "/rustc/",
    // Packages that Rust's delivered std is made of.
    "/rust/deps/",
    "/lib/rustlib/src/rust/library/",
    "/include/c++/",
    "/usr/include/",
    "/usr/lib/gcc/",
    "/sysdeps/",
];
const DEPENDENCY_FOLDERS: [&str; 2] = ["/registry/src/", "/git/checkouts/"];
const LIBRARY_NAMESPACES: [&str; 10] = [
    "std::",
    "core::",
    "alloc::",
    "__gnu_cxx::",
    "hashbrown::",
    "__rustc::",
    "__cxxabiv1::",
    // Locks in the place of those of std.
    "parking_lot::",
    "parking_lot_core::",
    "lock_api::",
];
const ALLOCATION_FUNCTIONS: [&str; 4] =
    ["operator new", "__rust_alloc", "__rdl_alloc", "__rg_alloc"];
/// What the compiler makes for the library.
const INTRINSICS: [&str; 1] = ["__rust_try"];
const LIBRARY_FILES: [&str; 6] =
    ["libc.so", "libc-", "libstdc++", "libgcc_s", "ld-linux", "libm.so"];

/// Whether a frame belongs to the standard library of C, C++ or Rust.
pub fn is_library_frame(frame: &Frame, module: Option<&str>) -> bool {
    let function = frame.function.as_deref().unwrap_or_default();
    let in_folder = frame.file.as_deref().is_some_and(is_library_file);
    let in_library =
        module.is_some_and(|module| LIBRARY_FILES.iter().any(|name| module.starts_with(name)));
    in_folder || in_library || is_library_function(function)
}

/// Whether a frame belongs to a package that cargo fetched: what the user depends on, but did not write.
pub fn is_dependency_frame(frame: &Frame) -> bool {
    frame.file.as_deref().is_some_and(is_dependency_file)
}

pub fn is_dependency_file(file: &str) -> bool {
    DEPENDENCY_FOLDERS.iter().any(|folder| file.contains(folder))
}

pub fn is_library_file(file: &str) -> bool {
    LIBRARY_FOLDERS.iter().any(|folder| file.contains(folder))
}

fn is_library_function(function: &str) -> bool {
    // `<alloc::vec::Vec<T> as …>::f`; but `<bank::Account as core::ops::Drop>::drop` is the user's.
    let name = function.trim_start_matches('<');
    let allocates = ALLOCATION_FUNCTIONS.iter().any(|known| function.starts_with(known));
    let is_intrinsic = INTRINSICS.contains(&function);
    allocates
        || is_intrinsic
        || LIBRARY_NAMESPACES.iter().any(|namespace| name.starts_with(namespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str) -> Frame {
        Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            ..Frame::default()
        }
    }

    #[test]
    fn library_code_is_known_by_name_or_by_file() {
        assert!(is_library_frame(&frame("alloc::boxed::Box<T>::new", "/x/boxed.rs"), None));
        assert!(is_library_frame(&frame("<alloc::vec::Vec<T> as X>::f", "/x/vec.rs"), None));
        assert!(is_library_frame(
            &frame("push_back", "/usr/include/c++/12/bits/stl_vector.h"),
            None
        ));
        assert!(!is_library_frame(
            &frame("<bank::A as core::ops::Drop>::drop", "/src/bank.rs"),
            Some("bank")
        ));
        let tag = "/rust/deps/hashbrown-0.16.1/src/control/tag.rs";
        assert!(is_library_frame(&frame("<Tag>::is_full", tag), Some("bank")));
        assert!(!is_library_frame(&frame("main", "/src/bank.c"), Some("bank")));
    }

    #[test]
    fn what_cargo_fetched_is_a_dependency() {
        let fetched = "/home/me/.cargo/registry/src/index-0123/tokio-1.0.0/src/runtime/task.rs";
        assert!(is_dependency_frame(&frame("tokio::runtime::task::poll", fetched)));
        assert!(!is_dependency_frame(&frame("bank::main", "/home/me/bank/src/main.rs")));
    }
}
