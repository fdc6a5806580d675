//! The patches of one attempt, gathered: what they make of an empty state, and as one patch of any state.

use serde_json::{Map, Value};

use crate::merge::{TooDeep, deep_merge};

/// The patches of one attempt, in the order they came.
#[derive(Debug, Default)]
pub(super) struct Patches {
    /// What they make of an empty state: the output of a script that gives no other.
    output: Map<String, Value>,
    /// As few as do the same, in order; unlike the output, they keep the nulls that remove keys of the state.
    patches: Vec<Map<String, Value>>,
}

impl Patches {
    /// Adds a patch.
    pub(super) fn add(&mut self, patch: &Map<String, Value>) -> Result<(), TooDeep> {
        deep_merge(&mut self.output, patch.clone())?;
        match self.patches.last_mut() {
            Some(last) if can_follow(last, patch) => follow(last, patch),
            Some(_) | None => self.patches.push(patch.clone()),
        }
        Ok(())
    }

    /// Returns what the patches make of an empty state, and as few patches as do the same to any state.
    pub(super) fn into_parts(self) -> (Map<String, Value>, Vec<Map<String, Value>>) {
        (self.output, self.patches)
    }
}

/// Says whether one patch can do what `first` and then `second` do. It cannot where a key is removed or replaced and
/// then becomes an object: as one, it would keep what the state had in it.
fn can_follow(first: &Map<String, Value>, second: &Map<String, Value>) -> bool {
    second.iter().all(|(key, value)| match (first.get(key), value) {
        (Some(Value::Object(inner)), Value::Object(more)) => can_follow(inner, more),
        (Some(_), Value::Object(_)) => false,
        (Some(_) | None, _) => true,
    })
}

/// Makes `first` do what `first` and then `second` do.
fn follow(first: &mut Map<String, Value>, second: &Map<String, Value>) {
    for (key, value) in second {
        match (first.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => follow(inner, more),
            (Some(slot), value) => *slot = value.clone(),
            (None, value) => {
                first.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        let Value::Object(object) = value else { panic!("not an object") };
        object
    }

    #[track_caller]
    fn check(patches: &[Value], output: Value, state: Value, after: Value) {
        let mut gathered = Patches::default();
        let mut one_by_one = object(state.clone());
        for patch in patches {
            gathered.add(&object(patch.clone())).unwrap();
            deep_merge(&mut one_by_one, object(patch.clone())).unwrap();
        }
        let (merged, patches) = gathered.into_parts();
        assert_eq!(Value::Object(merged), output);
        let mut at_once = object(state);
        for patch in patches {
            deep_merge(&mut at_once, patch).unwrap();
        }
        assert_eq!(Value::Object(one_by_one), after);
        assert_eq!(Value::Object(at_once), after);
    }

    #[test]
    fn many_patches_do_the_same_as_one() {
        check(
            &[json!({"a": 1}), json!({"b": {"c": 2}})],
            json!({"a": 1, "b": {"c": 2}}),
            json!({"b": {"d": 3}}),
            json!({"a": 1, "b": {"c": 2, "d": 3}}),
        );
        check(&[json!({"a": 1}), json!({"a": null})], json!({}), json!({"a": 0, "z": 1}), json!({"z": 1}));
        check(
            &[json!({"a": {"x": 1, "y": 1}}), json!({"a": {"x": null}})],
            json!({"a": {"y": 1}}),
            json!({"a": {"x": 0}}),
            json!({"a": {"y": 1}}),
        );
        check(&[json!({"a": {"x": 1}}), json!({"a": [1]})], json!({"a": [1]}), json!({}), json!({"a": [1]}));
        // Removed or replaced, then made anew: what the state had there is gone.
        check(
            &[json!({"a": null}), json!({"a": {"b": 1}})],
            json!({"a": {"b": 1}}),
            json!({"a": {"c": 2}}),
            json!({"a": {"b": 1}}),
        );
        check(
            &[json!({"a": 1}), json!({"a": {"b": 1}})],
            json!({"a": {"b": 1}}),
            json!({"a": {"c": 2}}),
            json!({"a": {"b": 1}}),
        );
    }
}
