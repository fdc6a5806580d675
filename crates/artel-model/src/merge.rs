//! Deep merge of state patches (RFC 7396, with a bound on depth).

use serde_json::{Map, Value};

use crate::limit::MERGE_DEPTH_MAX;

/// A patch that is nested too deeply to be merged.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the patch is nested deeper than {MERGE_DEPTH_MAX} levels")]
pub struct TooDeep;

/// Merges `patch` into `target`: objects recurse, arrays and scalars replace, null removes the key.
///
/// Nulls inside an object that the target does not have are removed too. A patch that is too deep changes nothing.
pub fn deep_merge(target: &mut Map<String, Value>, patch: Map<String, Value>) -> Result<(), TooDeep> {
    if patch.values().any(|value| is_deeper_than(value, MERGE_DEPTH_MAX - 1)) {
        return Err(TooDeep);
    }
    merge_objects(target, patch);
    Ok(())
}

fn merge_objects(target: &mut Map<String, Value>, patch: Map<String, Value>) {
    for (key, value) in patch {
        match value {
            Value::Null => {
                target.remove(&key);
            }
            Value::Object(inner) => {
                let slot = target.entry(key).or_insert(Value::Null);
                if !slot.is_object() {
                    *slot = Value::Object(Map::new());
                }
                if let Value::Object(object) = slot {
                    merge_objects(object, inner);
                }
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                target.insert(key, value);
            }
        }
    }
}

/// Says whether objects and lists are nested in more than so many levels.
pub(crate) fn is_deeper_than(value: &Value, levels: usize) -> bool {
    match value {
        Value::Object(object) => {
            levels == 0 || object.values().any(|value| is_deeper_than(value, levels - 1))
        }
        Value::Array(array) => levels == 0 || array.iter().any(|value| is_deeper_than(value, levels - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(target: Value, patch: Value, expected: Value) {
        let (Value::Object(mut target), Value::Object(patch)) = (target, patch) else {
            panic!("both are objects")
        };
        deep_merge(&mut target, patch).unwrap();
        assert_eq!(Value::Object(target), expected);
    }

    #[test]
    fn objects_recurse_and_the_rest_replaces() {
        check(
            json!({"a": {"b": 1, "c": 2}}),
            json!({"a": {"c": 3, "d": 4}}),
            json!({"a": {"b": 1, "c": 3, "d": 4}}),
        );
        check(json!({"a": [1, 2]}), json!({"a": [3]}), json!({"a": [3]}));
        check(json!({"a": {"b": 1}}), json!({"a": 2}), json!({"a": 2}));
        check(json!({"a": 2}), json!({"a": {"b": 1}}), json!({"a": {"b": 1}}));
    }

    #[test]
    fn null_removes_also_inside_what_is_added() {
        check(json!({"a": 1, "b": 2}), json!({"a": null}), json!({"b": 2}));
        check(json!({}), json!({"a": {"b": null, "c": 1}}), json!({"a": {"c": 1}}));
        check(json!({}), json!({"a": [null]}), json!({"a": [null]}));
    }

    #[test]
    fn depth_is_bounded_and_nothing_is_half_merged() {
        let nested = |levels: usize| (0..levels).fold(json!(1), |inner, _| json!({ "a": inner }));
        let mut target = Map::from_iter([("kept".to_owned(), json!(true))]);
        let Value::Object(deepest) = nested(MERGE_DEPTH_MAX) else { unreachable!("it is an object") };
        let Value::Object(too_deep) = nested(MERGE_DEPTH_MAX + 1) else { unreachable!("it is an object") };
        assert_eq!(deep_merge(&mut target, too_deep), Err(TooDeep));
        assert_eq!(Value::Object(target.clone()), json!({"kept": true}));
        assert_eq!(deep_merge(&mut target, deepest), Ok(()));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), (0..3).prop_map(Value::from)];
        leaf.prop_recursive(4, 16, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[abc]", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn object() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map("[abc]", value(), 0..4).prop_map(|map| map.into_iter().collect())
    }

    proptest! {
        #[test]
        fn merging_twice_is_merging_once(target in object(), patch in object()) {
            let mut once = target;
            deep_merge(&mut once, patch.clone()).unwrap();
            let mut twice = once.clone();
            deep_merge(&mut twice, patch).unwrap();
            prop_assert_eq!(once, twice);
        }

        #[test]
        fn an_empty_patch_changes_nothing(target in object()) {
            let mut merged = target.clone();
            deep_merge(&mut merged, Map::new()).unwrap();
            prop_assert_eq!(merged, target);
        }
    }
}
