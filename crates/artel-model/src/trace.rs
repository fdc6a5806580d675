//! Which trace something belongs to, as the `traceparent` of W3C Trace Context says it. Makes no ids and knows nothing of
//! who collects traces.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The only version of the format that there is; later ones begin with the same fields.
const VERSION: &str = "00";
/// What no version is.
const VERSION_INVALID: &str = "ff";
/// The flag that says that the trace is recorded.
const SAMPLED: u8 = 1;

/// All that happens because of one thing that somebody wanted; never zero.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct TraceId(u128);

/// One part of a trace; never zero.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SpanId(u64);

/// A place in a trace: what happens next happens because of it.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, PartialEq, Serialize)]
#[serde(into = "String", try_from = "String")]
pub struct TraceParent {
    /// The trace.
    pub trace: TraceId,
    /// The part of it.
    pub span: SpanId,
    /// Whether the trace is recorded.
    pub is_sampled: bool,
}

/// Why a text is no place in a trace.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("a trace parent is written as `00-<32 hex digits>-<16 hex digits>-<2 hex digits>`")]
pub struct TraceParentError;

impl TraceId {
    /// Makes an id; nothing of zero.
    pub fn new(number: u128) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// Returns the id as a number.
    pub fn get(self) -> u128 {
        self.0
    }
}

impl SpanId {
    /// Makes an id; nothing of zero.
    pub fn new(number: u64) -> Option<Self> {
        (number != 0).then_some(Self(number))
    }

    /// Returns the id as a number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl fmt::Display for SpanId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{VERSION}-{}-{}-{:02x}", self.trace, self.span, u8::from(self.is_sampled))
    }
}

impl FromStr for TraceParent {
    type Err = TraceParentError;

    fn from_str(text: &str) -> Result<Self, TraceParentError> {
        let mut fields = text.split('-');
        let mut field = |length| fields.next().filter(|field| is_hex(field, length)).ok_or(TraceParentError);
        let (version, trace, span, flags) = (field(2)?, field(32)?, field(16)?, field(2)?);
        let goes_on = fields.next().is_some();
        if version == VERSION_INVALID || (version == VERSION && goes_on) {
            return Err(TraceParentError);
        }
        let trace = u128::from_str_radix(trace, 16).ok().and_then(TraceId::new).ok_or(TraceParentError)?;
        let span = u64::from_str_radix(span, 16).ok().and_then(SpanId::new).ok_or(TraceParentError)?;
        let flags = u8::from_str_radix(flags, 16).map_err(|_| TraceParentError)?;
        Ok(Self { trace, span, is_sampled: flags & SAMPLED == SAMPLED })
    }
}

fn is_hex(field: &str, length: usize) -> bool {
    field.len() == length && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

impl From<TraceParent> for String {
    fn from(parent: TraceParent) -> Self {
        parent.to_string()
    }
}

impl TryFrom<String> for TraceParent {
    type Error = TraceParentError;

    fn try_from(text: String) -> Result<Self, TraceParentError> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn what_is_written_is_read() {
        let parent: TraceParent = KNOWN.parse().unwrap();
        assert!(parent.is_sampled);
        assert_eq!(parent.to_string(), KNOWN);
        let json = serde_json::to_string(&parent).unwrap();
        assert_eq!(serde_json::from_str::<TraceParent>(&json).unwrap(), parent);
        let unsampled: TraceParent = KNOWN.replace("-01", "-02").parse().unwrap();
        assert!(!unsampled.is_sampled);
    }

    #[test]
    fn a_later_version_may_say_more() {
        let later = format!("cc{}-what-comes", &KNOWN[2..]);
        assert_eq!(later.parse::<TraceParent>().unwrap().to_string(), KNOWN);
    }

    #[test]
    fn what_is_no_place_in_a_trace_is_refused() {
        let zero_trace = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        let zero_span = "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01";
        let (upper, longer) = (KNOWN.to_uppercase(), format!("{KNOWN}-more"));
        let invalid = format!("ff{}", &KNOWN[2..]);
        for text in ["", "00", "é", &KNOWN[..54], zero_trace, zero_span, &upper, &longer, &invalid] {
            assert_eq!(text.parse::<TraceParent>(), Err(TraceParentError), "{text}");
        }
    }
}
