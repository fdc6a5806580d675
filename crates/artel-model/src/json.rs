//! JSON values read by the letter, with a word about every key that stands twice: which of two values counts would
//! otherwise be anybody's guess. Knows nothing of what the values are for.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::schema::push_pointer;

/// What is told about a key that stands twice: the JSON Pointer of its second place, and the key. An error ends the
/// reading; otherwise the last value counts.
pub(crate) type OnTwice<'a> = dyn FnMut(&str, &str) -> Result<(), String> + 'a;

/// Reads one value.
pub(crate) fn read_value<'de, D: Deserializer<'de>>(
    deserializer: D,
    on_twice: &mut OnTwice<'_>,
) -> Result<Value, D::Error> {
    let mut reading = Reading { pointer: String::new(), on_twice };
    Part(&mut reading).deserialize(deserializer)
}

struct Reading<'a, 'b> {
    pointer: String,
    on_twice: &'a mut OnTwice<'b>,
}

/// One value of the document.
struct Part<'r, 'a, 'b>(&'r mut Reading<'a, 'b>);

impl<'de> DeserializeSeed<'de> for Part<'_, '_, '_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_, '_, '_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E: Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let length = self.0.pointer.len();
        let mut items = Vec::new();
        push_pointer(&mut self.0.pointer, "0");
        while let Some(item) = access.next_element_seed(Part(self.0))? {
            items.push(item);
            self.0.pointer.truncate(length);
            push_pointer(&mut self.0.pointer, &items.len().to_string());
        }
        self.0.pointer.truncate(length);
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let length = self.0.pointer.len();
        let mut object = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            push_pointer(&mut self.0.pointer, &key);
            if object.contains_key(&key) {
                (self.0.on_twice)(&self.0.pointer, &key).map_err(A::Error::custom)?;
            }
            object.insert(key, access.next_value_seed(Part(self.0))?);
            self.0.pointer.truncate(length);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, on_twice: &mut OnTwice<'_>) -> serde_json::Result<Value> {
        read_value(&mut serde_json::Deserializer::from_str(text), on_twice)
    }

    #[test]
    fn values_are_read_as_they_are() {
        let text = r#"{"a":[1,-2,1.5,"x\u0041",null,true,{"b":{}}],"c":18446744073709551615}"#;
        let value = read(text, &mut |_, _| Err("nothing stands twice".to_owned())).unwrap();
        assert_eq!(value, serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn a_key_that_stands_twice_is_told_with_its_place_and_may_end_the_reading() {
        let text = r#"{"a":[{"b":1,"\u0062":2}]}"#;
        let mut told = Vec::new();
        let value = read(text, &mut |pointer, key| {
            told.push(format!("{key} at {pointer}"));
            Ok(())
        });
        assert_eq!(
            (told, value.unwrap()),
            (vec!["b at /a/0/b".to_owned()], serde_json::json!({"a": [{"b": 2}]}))
        );
        let problem = read(text, &mut |_, _| Err("no".to_owned())).unwrap_err();
        assert!(problem.to_string().starts_with("no"), "{problem}");
    }
}
