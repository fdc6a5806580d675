//! Durable steps that do nothing, beside SQLite alone on the same disk, as benchmarks of the crates print them.

use std::path::Path;

use anyhow::Result;

use super::measure::output_of;
use super::report::{Row, numbers};
use crate::shell::cargo;

/// What is measured, the line that tells it, the floor's line, and the goal.
const STEPS: [(&str, &str, &str, &str); 2] = [
    (
        "durable steps, one chain",
        "one chain, written ",
        "SQLite, one transaction each, written ",
        ">= 5,000/s",
    ),
    (
        "durable steps, 1,000 chains at once",
        "1,000 chains at once, written ",
        "SQLite, groups of 100, written ",
        ">= 0.5",
    ),
];

/// Measures steps, and the floors right after them.
pub(super) fn rows(root: &Path) -> Vec<Row> {
    let measured = measure(root);
    let row = |(work, steps, floor, goal): (&str, &str, &str, &'static str)| {
        let row = measured.as_deref().map(|output| row(output, [work, steps, floor], goal));
        match row {
            Ok(Ok(row)) => row,
            Ok(Err(error)) => Row::missing(work, &error, goal),
            Err(error) => Row::missing(work, error, goal),
        }
    };
    STEPS.into_iter().map(row).collect()
}

fn measure(root: &Path) -> Result<String> {
    let steps = output_of(cargo(root, &["bench", "--package", "artel", "--bench", "durable"]))?;
    let floors = output_of(cargo(root, &["bench", "--package", "artel-store-sqlite", "--bench", "append"]))?;
    Ok(steps + &floors)
}

fn row(output: &str, [work, steps, floor]: [&str; 3], goal: &'static str) -> Result<Row> {
    let rate = |title| numbers(output, title).map(|numbers| numbers[0]);
    let (steps, floor) = (rate(steps)?, rate(floor)?);
    let compared = Some((format!("SQLite {floor:.0} writes/s"), steps / floor));
    Ok(Row { compared, ..Row::new(work, format!("{steps:.0}/s"), goal) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stand_beside_their_floor() {
        let output = "one chain, written   6000\nSQLite, one transaction each, written   12000   83.3\n";
        let (work, steps, floor, goal) = STEPS[0];
        let row = row(output, [work, steps, floor], goal).unwrap();
        assert_eq!(row.result, "6000/s");
        assert_eq!(row.compared, Some(("SQLite 12000 writes/s".to_owned(), 0.5)));
    }
}
