//! Finds what instructions ask for: text made plain, then searched for the patterns of rules.

mod mention;
mod normal;
mod pattern;

pub(super) use mention::{floor, is_shown};
pub(super) use normal::{Plain, fold_confusable};
pub(super) use pattern::{Ground, Pattern, TextRule, search};
