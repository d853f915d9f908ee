//! Nothing: the tests are in `tests/`, one file per library.
