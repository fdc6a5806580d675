//! All rules together.

use super::{behaviour, files, harm, hidden, manifest, manipulation, requests};
use crate::scan::rule::Rule;
use crate::scan::text::TextRule;

/// The rules about what a text says.
pub(in crate::scan) static TEXT_RULES: &[&[TextRule]] = &[manipulation::RULES, requests::RULES];

/// Returns every rule, by its id.
pub fn rules() -> Vec<&'static Rule> {
    let said = TEXT_RULES.iter().copied().flatten().map(|said| &said.rule);
    let seen = [hidden::RULES, files::RULES, behaviour::RULES, harm::RULES, manifest::RULES];
    let mut rules: Vec<&'static Rule> = said.chain(seen.into_iter().flatten().copied()).collect();
    rules.sort_by_key(|rule| rule.id);
    rules
}

/// Returns the rule of that id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().into_iter().find(|rule| rule.id == id)
}
