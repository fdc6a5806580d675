//! Many agents who do nothing, as their benchmark prints them.

use std::path::Path;

use anyhow::{Result, bail};

use super::measure::output_of;
use super::report::{Row, micros, numbers};
use crate::shell::cargo;

const WORK: &str = "100,000 idle agents";

/// Measures them.
pub(super) fn rows(root: &Path) -> Vec<Row> {
    let output = output_of(cargo(root, &["bench", "--package", "artel-agents", "--bench", "agents"]));
    output
        .and_then(|output| read(&output))
        .unwrap_or_else(|error| vec![Row::missing(WORK, &error, "<= 1024 bytes each")])
}

fn read(output: &str) -> Result<Vec<Row>> {
    let refused = numbers(output, "spawn refused, median us ")?[0];
    let mut rows = stage(output, WORK, "100000 ", "<= 1024 bytes each")?;
    rows.extend(stage(output, "10,000 idle agents, to see the growth", "10000 ", "")?);
    rows.push(Row::new("a spawn that is refused, median", micros(refused), "< 50 ms"));
    Ok(rows)
}

fn stage(output: &str, work: &str, title: &str, goal: &'static str) -> Result<Vec<Row>> {
    let [per_second, bytes, list_ms, page, last_page, counts, lookup, spawn] = numbers(output, title)?[..]
    else {
        bail!("the line `{title}` has not eight numbers");
    };
    let list = micros(list_ms * 1e3);
    Ok(vec![
        Row::new(work, format!("{bytes:.0} bytes each"), goal),
        Row::new("  spawned, 1,000 at a time", format!("{per_second:.0}/s"), ""),
        Row::new("  one more, median", micros(spawn), ""),
        Row::new(
            "  listed in pages of 200",
            format!("{list}; a page {}, the last {}", micros(page), micros(last_page)),
            "",
        ),
        Row::new("  looked up by id, median; counted", format!("{}; {}", micros(lookup), micros(counts)), ""),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_stages_are_told() {
        let output = "\
spawn refused, median us 7.5
idle agents  spawned/s bytes
10000  9000 2000 100.0 1500.0 1400.0 900.0 30.0 700.0
100000 8000 900 1000.0 1600.0 1500.0 9000.0 35.0 800.0
";
        let told: Vec<String> =
            read(output).unwrap().iter().map(|row| format!("{}|{}", row.work, row.result)).collect();
        assert_eq!(
            told,
            [
                "100,000 idle agents|900 bytes each",
                "  spawned, 1,000 at a time|8000/s",
                "  one more, median|800.0 us",
                "  listed in pages of 200|1000.0 ms; a page 1.6 ms, the last 1.5 ms",
                "  looked up by id, median; counted|35.0 us; 9.0 ms",
                "10,000 idle agents, to see the growth|2000 bytes each",
                "  spawned, 1,000 at a time|9000/s",
                "  one more, median|700.0 us",
                "  listed in pages of 200|100.0 ms; a page 1.5 ms, the last 1.4 ms",
                "  looked up by id, median; counted|30.0 us; 900.0 us",
                "a spawn that is refused, median|7.5 us",
            ]
        );
        assert!(read("spawn refused, median us 7.5\n100000 1 2\n").is_err());
    }
}
