//! Direct messages, which are kept before they are sent: the post office on SQLite, as its benchmark prints it.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::measure::output_of;
use super::report::{Row, micros, numbers};
use crate::shell::cargo;

const CALM: &str = "direct messages, durable (SQLite), one at a time";
const LOAD: &str = "100,000 direct messages, the bus falls twice, a receiver is killed";

/// Measures the post office.
pub(super) fn rows(root: &Path) -> Vec<Row> {
    let output = output_of(cargo(root, &["bench", "--package", "artel-agents", "--bench", "post"]));
    match output.and_then(|output| read(&output)) {
        Ok(rows) => rows,
        Err(error) => vec![Row::missing(CALM, &error, ""), Row::missing(LOAD, &error, "")],
    }
}

fn read(output: &str) -> Result<Vec<Row>> {
    let mut rows = case(output, CALM, "sqlite   calm ")?;
    rows.extend(case(output, LOAD, "sqlite   load ")?);
    // The sums of the last store, which is the one that is told about.
    let sums = output.lines().filter_map(|line| line.strip_prefix("sums: ")).next_back();
    let sums = sums.context("the benchmark prints no line `sums: `")?;
    rows.push(Row::new("  what became of them", sums.to_owned(), "nothing missing"));
    Ok(rows)
}

fn case(output: &str, work: &str, title: &str) -> Result<Vec<Row>> {
    let [_, per_second, send_p50, send_p99, p50, p99] = numbers(output, title)?[..] else {
        bail!("the line `{title}` has not six numbers");
    };
    let times = |p50, p99| format!("{}, {}", micros(p50), micros(p99));
    Ok(vec![
        Row::new(work, format!("{per_second:.0}/s"), ""),
        Row::new("  until it is kept, p50 and p99", times(send_p50, send_p99), ""),
        Row::new("  until it is read, p50 and p99", times(p50, p99), ""),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_are_those_of_sqlite() {
        let output = "\
memory   calm       10000     200000          1          2          3          9
sums: 1 sent = 1 read
sqlite   calm       10000       1000        700       1900        900       2100
sqlite   load      100000      20000        100        200       5000       9000
sums: 2 sent = 2 read
";
        let told: Vec<String> =
            read(output).unwrap().iter().map(|row| format!("{}|{}", row.work, row.result)).collect();
        assert_eq!(
            told,
            [
                "direct messages, durable (SQLite), one at a time|1000/s",
                "  until it is kept, p50 and p99|700.0 us, 1.9 ms",
                "  until it is read, p50 and p99|900.0 us, 2.1 ms",
                "100,000 direct messages, the bus falls twice, a receiver is killed|20000/s",
                "  until it is kept, p50 and p99|100.0 us, 200.0 us",
                "  until it is read, p50 and p99|5.0 ms, 9.0 ms",
                "  what became of them|2 sent = 2 read",
            ]
        );
        assert!(read("memory calm 1 2 3 4\n").is_err());
    }
}
