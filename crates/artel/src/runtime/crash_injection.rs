//! A process that ends in the middle of its work when it is told to, for the tests of recovery. Not in release builds.

use std::sync::Arc;

use artel_engine::{CrashingStore, Death};
use artel_store::RunStore;

use crate::config::Environment;

/// The variable that says when: `before:3` the third write, or `after:3`.
const VARIABLE: &str = "ARTEL_TEST_DEATH";

/// Returns a store that ends the process when the environment says so.
pub(super) fn crash_injection(store: Arc<dyn RunStore>, environment: &Environment) -> Arc<dyn RunStore> {
    let death = environment.get(VARIABLE).and_then(|text| {
        let (when, number) = text.split_once(':')?;
        let number = number.parse().ok()?;
        match when {
            "before" => Some(Death::BeforeWrite(number)),
            "after" => Some(Death::AfterWrite(number)),
            _ => None,
        }
    });
    match death {
        Some(death) => Arc::new(CrashingStore::new(store, death)),
        None => store,
    }
}
