//! What a measure is called, what it counts and what it may be split by, so that every crate lists its own in the same
//! way and one page can show them all. Knows nothing of how they are counted, collected and shown.

/// A measure.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its name: `artel_`, what is measured, the unit.
    pub name: &'static str,
    /// What kind of number it is.
    pub kind: MetricKind,
    /// What it counts, in a sentence.
    pub about: &'static str,
    /// What it is split by.
    pub label: Option<Label>,
}

/// The kinds of measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MetricKind {
    /// It only grows.
    Counter,
    /// It goes up and down.
    Gauge,
    /// How often which size was seen.
    Histogram {
        /// The upper ends of the sizes that are told apart.
        buckets: &'static [f64],
    },
}

/// What a measure is split by. The values are all there are: neither ids nor anything that a user wrote.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Label {
    /// Its name.
    pub name: &'static str,
    /// Its values.
    pub values: &'static [&'static str],
}

/// Sizes of durations that are told apart, in seconds: from a tenth of a millisecond to ten minutes.
pub const SECONDS: &[f64] = &[
    0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 30.0, 60.0, 300.0, 600.0,
];

/// Sizes of groups that are told apart.
pub const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0];

impl Metric {
    /// Makes a measure that only grows.
    pub const fn counter(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: MetricKind::Counter, about, label: None }
    }

    /// Makes a measure that goes up and down.
    pub const fn gauge(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: MetricKind::Gauge, about, label: None }
    }

    /// Makes a measure of how long something takes.
    pub const fn seconds(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: MetricKind::Histogram { buckets: SECONDS }, about, label: None }
    }

    /// Makes a measure of how many go together.
    pub const fn sizes(name: &'static str, about: &'static str) -> Self {
        Self { name, kind: MetricKind::Histogram { buckets: SIZES }, about, label: None }
    }

    /// Splits the measure by a label.
    pub const fn by(self, name: &'static str, values: &'static [&'static str]) -> Self {
        Self { label: Some(Label { name, values }), ..self }
    }

    /// Makes something for every value of the label, out of its name and the value.
    pub fn by_label<T>(&self, make: impl Fn(&'static str, &'static str) -> T) -> ByLabel<T> {
        let label = self.label.iter();
        ByLabel(
            label
                .flat_map(|label| label.values.iter().map(|value| (*value, make(label.name, value))))
                .collect(),
        )
    }
}

/// Something for every value of a label.
#[derive(Clone, Debug)]
pub struct ByLabel<T>(Vec<(&'static str, T)>);

impl<T> ByLabel<T> {
    /// Returns what belongs to a value; nothing when the measure does not list the value.
    pub fn get(&self, value: &str) -> Option<&T> {
        let found = self.0.iter().find(|(known, _)| *known == value).map(|(_, made)| made);
        debug_assert!(found.is_some(), "`{value}` is no listed value of the label");
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_for_every_value_of_the_label() {
        let metric = Metric::counter("artel_things_total", "Things.").by("kind", &["one", "other"]);
        let made = metric.by_label(|name, value| format!("{name}={value}"));
        assert_eq!(made.get("other").map(String::as_str), Some("kind=other"));
    }

    #[test]
    fn sizes_are_told_apart_in_order() {
        for buckets in [SECONDS, SIZES] {
            assert!(buckets.is_sorted());
        }
    }
}
