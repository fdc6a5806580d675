//! Rules about workspaces: merging, differences, and what is near to what. Nothing here reads or writes.

mod merge;
mod near;

pub use merge::{
    Choice, Conflict, ConflictKind, Diff, MergePlan, Resolution, Versions, conflict, hash, plan, resolve,
};
pub use near::near_pairs;
