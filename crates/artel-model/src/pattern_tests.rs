//! The patterns that schemas have for texts accept what the parsers accept, and nothing else.

use std::str::FromStr;

use proptest::prelude::*;
use schemars::{JsonSchema, schema_for};

use crate::access::{TeamId, UserId};
use crate::agent::RoleName;
use crate::id::StepId;
use crate::limit::{IDENTITY_CHARS_MAX, NAME_CHARS_MAX, TOPIC_TOKENS_MAX};
use crate::message::{Topic, TopicPattern};
use crate::name::{LocalName, SkillName};
use crate::schema::{Quote, Schema};

/// Says whether the schema of a type and its parser agree about every text.
fn agree<T: FromStr + JsonSchema>(texts: &[String]) -> Result<(), TestCaseError> {
    let schema = Schema::parse(schema_for!(T).to_value()).unwrap();
    for text in texts {
        let fits = schema.violations(&text.as_str().into(), Quote::Values).is_empty();
        prop_assert_eq!(fits, text.parse::<T>().is_ok(), "{} of {:?}", T::schema_name(), text);
    }
    Ok(())
}

fn all_agree(texts: &[String]) -> Result<(), TestCaseError> {
    agree::<SkillName>(texts)?;
    agree::<LocalName>(texts)?;
    agree::<RoleName>(texts)?;
    agree::<StepId>(texts)?;
    agree::<Topic>(texts)?;
    agree::<TopicPattern>(texts)?;
    agree::<UserId>(texts)?;
    agree::<TeamId>(texts)
}

#[test]
fn patterns_and_parsers_agree_at_the_limits() {
    let parts = |count: usize, last: &str| format!("{}{last}", "a.".repeat(count - 1));
    let texts = [
        String::new(),
        "a".repeat(NAME_CHARS_MAX),
        "a".repeat(NAME_CHARS_MAX + 1),
        "a".repeat(IDENTITY_CHARS_MAX),
        "a".repeat(IDENTITY_CHARS_MAX + 1),
        "\u{e9}".repeat(IDENTITY_CHARS_MAX),
        parts(TOPIC_TOKENS_MAX, "b"),
        parts(TOPIC_TOKENS_MAX + 1, "b"),
        parts(TOPIC_TOKENS_MAX, ">"),
        parts(TOPIC_TOKENS_MAX + 1, ">"),
        ">".to_owned(),
        "a\n".to_owned(),
        "\u{a0}a".to_owned(),
        "a\u{85}".to_owned(),
    ];
    all_agree(&texts).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn patterns_and_parsers_agree(texts in prop::collection::vec("[aZ0._ \\-*>${}\u{e9}\n\u{7f}]{0,6}", 20)) {
        all_agree(&texts)?;
    }
}
