//! Whole numbers in bodies.

use serde::de::{Error as _, Unexpected};
use serde::{Deserialize as _, Deserializer};
use serde_json::Number;

/// Reads a whole number, or nothing.
pub(crate) fn whole<'de, D: Deserializer<'de>, T: TryFrom<u64>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(deserializer)? else { return Ok(None) };
    let read = artel_model::number::whole(&number).and_then(|whole| T::try_from(whole).ok());
    read.map(Some).ok_or_else(|| {
        D::Error::invalid_value(Unexpected::Other(&number.to_string()), &"a whole number within its limits")
    })
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    struct Wait {
        #[serde(default, deserialize_with = "whole")]
        ms: Option<u32>,
    }

    #[test]
    fn a_number_is_read_within_its_type() {
        let read = |text: &str| serde_json::from_str::<Wait>(text).map(|read| read.ms).ok();
        assert_eq!(read("{}"), Some(None));
        assert_eq!(read(r#"{"ms": null}"#), Some(None));
        assert_eq!(read(r#"{"ms": 7.0}"#), Some(Some(7)));
        for wrong in ["7.5", "-7", "4294967296", "\"7\"", "true"] {
            assert_eq!(read(&format!(r#"{{"ms": {wrong}}}"#)), None, "{wrong}");
        }
    }
}
