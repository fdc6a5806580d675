//! What a message says: a JSON object of a bounded size.

use std::io;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::limit::MESSAGE_PAYLOAD_BYTES_MAX;

/// What a message says.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(into = "Map<String, Value>", try_from = "Map<String, Value>")]
pub struct Payload(Map<String, Value>);

/// More than [`MESSAGE_PAYLOAD_BYTES_MAX`] bytes.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the payload has {bytes} bytes, and at most {MESSAGE_PAYLOAD_BYTES_MAX} are allowed")]
pub struct PayloadError {
    /// How many there are.
    pub bytes: usize,
}

impl Payload {
    /// Takes an object if it is not too large.
    pub fn new(object: Map<String, Value>) -> Result<Self, PayloadError> {
        let mut counted = Counted(0);
        serde_json::to_writer(&mut counted, &object).expect("an object is JSON, and counting does not fail");
        if counted.0 > MESSAGE_PAYLOAD_BYTES_MAX {
            return Err(PayloadError { bytes: counted.0 });
        }
        Ok(Self(object))
    }

    /// Returns the object.
    pub fn object(&self) -> &Map<String, Value> {
        &self.0
    }
}

/// Counts what is written, and keeps nothing.
struct Counted(usize);

impl io::Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TryFrom<Map<String, Value>> for Payload {
    type Error = PayloadError;

    fn try_from(object: Map<String, Value>) -> Result<Self, PayloadError> {
        Self::new(object)
    }
}

impl From<Payload> for Map<String, Value> {
    fn from(payload: Payload) -> Self {
        payload.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_limit_is_on_the_bytes_as_json() {
        let of = |chars: usize| {
            let Value::Object(object) = json!({"a": "x".repeat(chars)}) else { unreachable!() };
            Payload::new(object).map(|_| ())
        };
        let frame = r#"{"a":""}"#.len();
        assert_eq!(of(MESSAGE_PAYLOAD_BYTES_MAX - frame), Ok(()));
        let bytes = MESSAGE_PAYLOAD_BYTES_MAX + 1;
        assert_eq!(of(bytes - frame), Err(PayloadError { bytes }));
    }
}
