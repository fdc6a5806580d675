//! The artel binary.

fn main() {}
