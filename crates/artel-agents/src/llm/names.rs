//! What an agent's tools are called when a model is told about them. Providers take letters, digits, `_` and `-` only. Pure.

use std::collections::BTreeMap;

use artel_engine::llm::ToolSpec;

use crate::agent_tools::ToolOffer;

/// Characters of a name that providers take.
const NAME_CHARS_MAX: usize = 64;
/// Tools that providers take.
const TOOLS_MAX: usize = 128;

/// The tools of an agent as a model knows them.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ToolNames {
    /// What the model is told.
    pub(super) specs: Vec<ToolSpec>,
    /// How many tools there are that it is not told of.
    pub(super) left_out: usize,
    real: BTreeMap<String, String>,
}

impl ToolNames {
    /// Names tools; when there are too many, those that `is_own` says are of the agent's own skills come first.
    pub(super) fn new(mut offers: Vec<ToolOffer>, is_own: impl Fn(&str) -> bool) -> Self {
        offers.sort_by_cached_key(|offer| (!is_own(&offer.name), offer.name.clone()));
        let left_out = offers.len().saturating_sub(TOOLS_MAX);
        offers.truncate(TOOLS_MAX);
        // A tool whose name can stay as it is keeps it, so nothing else can pass for it.
        offers.sort_by_cached_key(|offer| (plain(&offer.name) != offer.name, offer.name.clone()));
        let mut names = Self { specs: Vec::with_capacity(offers.len()), left_out, real: BTreeMap::new() };
        for ToolOffer { name: real, description, parameters } in offers {
            let name = names.free(&plain(&real));
            names.real.insert(name.clone(), real);
            names.specs.push(ToolSpec { name, description, parameters });
        }
        names.specs.sort_by(|a, b| a.name.cmp(&b.name));
        names
    }

    /// Returns the tool that a model means. A name that nobody told it is nobody's but its own.
    pub(super) fn real<'n>(&'n self, name: &'n str) -> &'n str {
        self.real.get(name).map_or(name, String::as_str)
    }

    fn free(&self, plain: &str) -> String {
        let is_free = |name: &String| !self.real.contains_key(name);
        let numbered = (2u32..).map(|number| {
            let end = format!("_{number}");
            format!("{}{end}", &plain[..plain.len().min(NAME_CHARS_MAX - end.len())])
        });
        let mut names = std::iter::once(plain.to_owned()).chain(numbered);
        names.find(is_free).expect("there are more numbers than tools")
    }
}

/// Writes a name in the characters that providers take.
fn plain(name: &str) -> String {
    let plain = name.replace('/', "__");
    let is_plain = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    let plain = plain.chars().map(|character| if is_plain(character) { character } else { '_' });
    let plain: String = plain.take(NAME_CHARS_MAX).collect();
    if plain.is_empty() { "_".to_owned() } else { plain }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn names(real: &[&str]) -> ToolNames {
        let offer = |name: &&str| ToolOffer {
            name: (*name).to_owned(),
            description: String::new(),
            parameters: json!({}),
        };
        ToolNames::new(real.iter().map(offer).collect(), |_| false)
    }

    #[track_caller]
    fn check(real: &[&str], expected: &[(&str, &str)]) {
        let names = names(real);
        let told: Vec<_> =
            names.specs.iter().map(|spec| (spec.name.as_str(), names.real(&spec.name))).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn names_are_such_as_providers_take() {
        check(
            &["navigate/run", "solid.extrude", "send_message"],
            &[
                ("navigate__run", "navigate/run"),
                ("send_message", "send_message"),
                ("solid_extrude", "solid.extrude"),
            ],
        );
        check(
            &["a/b", "a__b", "a.b", "a b"],
            &[("a__b", "a__b"), ("a__b_2", "a/b"), ("a_b", "a b"), ("a_b_2", "a.b")],
        );
        let (long, longer) = ("x".repeat(64), "x".repeat(70));
        let end = format!("{}_2", "x".repeat(62));
        check(&[&long, &longer], &[(&end, &longer), (&long, &long)].map(|(a, b)| (a.as_str(), b.as_str())));
    }

    #[test]
    fn a_name_that_was_not_told_stays_what_it_is() {
        let names = names(&["navigate/run"]);
        for name in ["navigate/run", "n\u{430}vigate__run", "rm -rf", "", "NAVIGATE__RUN"] {
            assert_eq!(names.real(name), name);
        }
    }

    #[test]
    fn own_tools_come_first_when_there_are_too_many() {
        let offer = |number: usize| ToolOffer {
            name: format!("tool-{number:03}/run"),
            description: String::new(),
            parameters: json!({}),
        };
        let names = ToolNames::new((0..200).map(offer).collect(), |name| name == "tool-199/run");
        assert_eq!((names.specs.len(), names.left_out), (TOOLS_MAX, 72));
        assert_eq!(names.real("tool-199__run"), "tool-199/run");
        assert_eq!(names.real("tool-198__run"), "tool-198__run");
    }

    proptest! {
        #[test]
        fn every_tool_has_a_name_of_its_own(real in proptest::collection::btree_set("[ab/._é]{1,4}|x{60,70}", 0..40)) {
            let real: Vec<&str> = real.iter().map(String::as_str).collect();
            let names = names(&real);
            let mut back: Vec<&str> = names.specs.iter().map(|spec| names.real(&spec.name)).collect();
            back.sort_unstable();
            prop_assert_eq!(back, real);
            for spec in &names.specs {
                prop_assert!((1..=NAME_CHARS_MAX).contains(&spec.name.len()));
                prop_assert!(spec.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
            }
        }
    }
}
