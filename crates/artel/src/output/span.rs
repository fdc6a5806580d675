//! How long something took, and how long ago it was, for people.

use artel_model::time::Timestamp;

const UNITS: [(u64, &str); 4] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s")];

/// Writes so many milliseconds: `52 ms`, `1.4 s`, `3 min 20 s`.
pub(crate) fn span(millis: u64) -> String {
    match millis {
        0..1000 => format!("{millis} ms"),
        1000..60_000 => format!("{}.{} s", millis / 1000, millis % 1000 / 100),
        60_000..3_600_000 => format!("{} min {} s", millis / 60_000, millis % 60_000 / 1000),
        _ => format!("{} h {} min", millis / 3_600_000, millis % 3_600_000 / 60_000),
    }
}

/// Writes how long ago a moment was, in its largest unit.
pub(crate) fn ago(moment: Timestamp, now: Timestamp) -> String {
    let millis = now.millis_since(moment);
    match UNITS.iter().find(|(unit, _)| millis >= *unit) {
        Some((unit, name)) => format!("{} {name} ago", millis / unit),
        None => "just now".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_short() {
        assert_eq!(
            [0, 999, 1000, 59_999, 200_000, 7_260_000].map(span),
            ["0 ms", "999 ms", "1.0 s", "59.9 s", "3 min 20 s", "2 h 1 min"]
        );
        let now = Timestamp::from_millis(1_000_000_000);
        assert_eq!(
            [0, 5_000, 3_600_000, 200_000_000].map(|millis: u64| ago(now - millis, now)),
            ["just now", "5 s ago", "1 h ago", "2 d ago"]
        );
    }
}
