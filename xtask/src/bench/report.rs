//! The table that a benchmark prints, and the numbers in what other benchmarks print.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};

/// One thing that was measured, or why it could not be.
pub(crate) struct Row {
    pub(crate) work: String,
    pub(crate) result: String,
    /// What it was compared with, and how often its time went into ours.
    pub(crate) compared: Option<(String, f64)>,
    pub(crate) goal: &'static str,
}

impl Row {
    /// Makes a row that stands on its own.
    pub(crate) fn new(work: &str, result: String, goal: &'static str) -> Self {
        Self { work: work.to_owned(), result, compared: None, goal }
    }

    /// Makes a row for what could not be run.
    pub(crate) fn missing(work: &str, why: &anyhow::Error, goal: &'static str) -> Self {
        Self::new(work, format!("not measured: {why:#}"), goal)
    }
}

/// Writes rows as a table that is also Markdown.
pub(crate) fn table(rows: &[Row]) -> String {
    let head = ["work", "result", "compared with", "ratio", "goal"].map(str::to_owned);
    let mut cells = vec![head.clone(), head.map(|name| "-".repeat(name.len()))];
    for Row { work, result, compared, goal } in rows {
        let (with, ratio) = match compared {
            Some((with, ratio)) => (with.clone(), format!("{ratio:.2}")),
            None => (String::new(), String::new()),
        };
        cells.push([work.clone(), result.clone(), with, ratio, (*goal).to_owned()]);
    }
    let width = |column: usize| cells.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..5).map(width).collect();
    let line = |row: &[String; 5]| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} |"));
        format!("|{}\n", padded.collect::<String>())
    };
    cells.iter().map(line).collect()
}

/// Writes a time in milliseconds.
pub(crate) fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

/// Writes a number of microseconds, which may be many.
pub(crate) fn micros(micros: f64) -> String {
    if micros < 1000.0 { format!("{micros:.1} us") } else { format!("{:.1} ms", micros / 1e3) }
}

/// Returns the numbers of the line that starts with `title`; there is at least one.
pub(crate) fn numbers(output: &str, title: &str) -> Result<Vec<f64>> {
    let line = output.lines().find_map(|line| line.strip_prefix(title));
    let line = line.with_context(|| format!("the benchmark prints no line `{title}`"))?;
    let number = |word: &str| word.parse().with_context(|| format!("`{word}` is no number"));
    let numbers: Vec<f64> = line.split_whitespace().map(number).collect::<Result<_>>()?;
    if numbers.is_empty() {
        bail!("the benchmark prints no number after `{title}`");
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let compared = Some(("rg 2.0 ms".to_owned(), 1.5));
        let list = Row { compared, ..Row::new("list", milliseconds(Duration::from_millis(3)), "<= 2") };
        let text = table(&[list, Row::missing("find", &anyhow::anyhow!("gone"), "")]);
        assert_eq!(
            text,
            "| work | result             | compared with | ratio | goal |\n\
             | ---- | ------             | ------------- | ----- | ---- |\n\
             | list | 3.0 ms             | rg 2.0 ms     | 1.50  | <= 2 |\n\
             | find | not measured: gone |               |       |      |\n"
        );
    }

    #[test]
    fn a_long_time_is_told_in_milliseconds() {
        assert_eq!([0.44, 999.9, 1500.0].map(micros), ["0.4 us", "999.9 us", "1.5 ms"]);
    }

    #[test]
    fn numbers_are_found_by_their_title() {
        let output = "other 1 2\n1-4 words, Mixed, half   7 8\n1-4 words, Mixed   10   20.5 30\n";
        assert_eq!(numbers(output, "1-4 words, Mixed ").unwrap(), [10.0, 20.5, 30.0]);
        assert!(numbers(output, "missing").is_err());
        assert!(numbers("title x\n", "title ").is_err());
        assert!(numbers("title \n", "title ").is_err());
    }
}
