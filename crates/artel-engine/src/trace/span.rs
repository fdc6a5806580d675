//! Spans: begun at a place in a trace, given attributes, ended by being dropped.

use std::time::SystemTime;

use artel_model::trace::{SpanId, TraceId, TraceParent};
use uuid::Uuid;

use super::current::within;
use super::queue::{Tracer, tracer};
use crate::clock::time_of_day;

/// What kind of work a span is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SpanKind {
    /// Answering somebody.
    Server,
    /// Anything inside.
    Internal,
}

/// What is said about a span.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AttributeValue {
    /// A text.
    Text(String),
    /// A number.
    Number(i64),
}

impl From<String> for AttributeValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for AttributeValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<i64> for AttributeValue {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

/// A span that is over.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct EndedSpan {
    /// What was done; one of few names.
    pub name: String,
    /// What kind of work it was.
    pub kind: SpanKind,
    /// Its place.
    pub place: TraceParent,
    /// The span that it was begun in; nothing for the first of a trace.
    pub parent: Option<SpanId>,
    /// When it began.
    pub began: SystemTime,
    /// When it ended.
    pub ended: SystemTime,
    /// What is said about it.
    pub attributes: Vec<(&'static str, AttributeValue)>,
    /// What went wrong.
    pub failure: Option<String>,
}

/// A piece of work that goes on; it ends when this is dropped.
#[must_use = "a span ends when it is dropped"]
pub struct Span {
    place: Option<TraceParent>,
    /// Nothing when nobody records it.
    open: Option<Box<Open>>,
}

struct Open {
    tracer: &'static Tracer,
    span: EndedSpan,
}

/// Says whether spans are recorded in this process.
pub fn is_on() -> bool {
    tracer().is_some()
}

impl Span {
    /// Begins a piece of work at a place in a trace; without one, a trace begins here.
    pub fn begin(name: impl Into<String>, kind: SpanKind, parent: Option<TraceParent>) -> Self {
        match tracer() {
            Some(tracer) => Self::traced(tracer, name.into(), kind, parent),
            None => Self { place: parent, open: None },
        }
    }

    /// Returns a span that nobody records, in no trace.
    pub fn none() -> Self {
        Self { place: None, open: None }
    }

    fn traced(tracer: &'static Tracer, name: String, kind: SpanKind, parent: Option<TraceParent>) -> Self {
        let Some(place) = place(tracer, parent) else { return Self { place: parent, open: None } };
        let now = time_of_day();
        let open = place.is_sampled.then(|| {
            let parent = parent.map(|parent| parent.span);
            let (attributes, failure) = (Vec::new(), None);
            let span = EndedSpan { name, kind, place, parent, began: now, ended: now, attributes, failure };
            Box::new(Open { tracer, span })
        });
        Self { place: Some(place), open }
    }

    /// Returns the place that what happens inside happens at.
    pub fn place(&self) -> Option<TraceParent> {
        self.place
    }

    /// Says something about it.
    pub fn set(&mut self, name: &'static str, value: impl Into<AttributeValue>) {
        if let Some(open) = &mut self.open {
            open.span.attributes.push((name, value.into()));
        }
    }

    /// Does some work inside; it ends with the work.
    pub async fn around<T>(self, work: impl Future<Output = T>) -> T {
        within(self.place, work).await
    }

    /// Does some work inside that may fail, and says so if it does; it ends with the work.
    pub async fn around_result<T, E>(mut self, work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
        let came = within(self.place, work).await;
        if came.is_err() {
            self.fail("it did not succeed");
        }
        came
    }

    /// Says what went wrong.
    pub fn fail(&mut self, why: impl Into<String>) {
        if let Some(open) = &mut self.open {
            open.span.failure = Some(why.into());
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            let Open { tracer, mut span } = *open;
            span.ended = time_of_day().max(span.began);
            tracer.keep(span);
        }
    }
}

/// Returns the place of another span: in the same trace, or the first of one.
fn place(tracer: &Tracer, parent: Option<TraceParent>) -> Option<TraceParent> {
    let span = SpanId::new(Uuid::new_v4().as_u64_pair().1)?;
    match parent {
        Some(parent) => Some(TraceParent { span, ..parent }),
        None => {
            let trace = TraceId::new(Uuid::new_v4().as_u128())?;
            Some(TraceParent { trace, span, is_sampled: tracer.ratio.takes(trace) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_collector_a_place_is_handed_on_as_it_came() {
        let given: TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
        assert_eq!(Span::begin("run", SpanKind::Internal, Some(given)).place(), Some(given));
        assert_eq!(Span::begin("run", SpanKind::Internal, None).place(), None);
    }
}
