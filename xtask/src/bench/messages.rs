//! Live messages beside bare channels, Redis, NATS and autogen-core, all with the same work in the same run.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::measure::output_of;
use super::report::{Row, micros, numbers};
use crate::shell::{cargo, program_in, run as run_command, succeeds};
use crate::tools::install_system_packages;

/// Pinned, so that the comparison means the same every day.
const AUTOGEN: &str = "autogen-core==0.7.5";
/// Where its environment is made.
const ENVIRONMENT: &str = "target/bench/venv";

/// How the line of a bus begins, and what stands beside it.
struct Bus {
    work: &'static str,
    title: &'static str,
    others: &'static [&'static str],
    goals: Goals,
}

struct Goals {
    deliveries: &'static str,
    requests: &'static str,
    time: &'static str,
}

const BUSES: [Bus; 2] = [
    Bus {
        work: "in process",
        title: "in process",
        others: &["bare tokio", "Redis pub/sub", "NATS", "autogen-core"],
        goals: Goals { deliveries: ">= 1,000,000/s", requests: ">= 200,000/s", time: "p99 < 200 us" },
    },
    Bus {
        work: "through Redis",
        title: "through Redis",
        others: &["Redis pub/sub"],
        goals: Goals { deliveries: "", requests: "", time: "p99 < 5 ms" },
    },
];

/// Measures the buses and everything beside them.
pub(super) fn rows(root: &Path) -> Vec<Row> {
    // They are compared with when they are here; what is missing is said by the benchmark.
    for (program, package) in [("redis-server", "redis-server"), ("nats-server", "nats-server")] {
        if let Err(error) = install(root, program, package) {
            println!("{program}: {error:#}");
        }
    }
    match output_of(cargo(root, &["bench", "--package", "artel-bus", "--bench", "messages"])) {
        Ok(output) => {
            let output = output + &autogen(root);
            BUSES.iter().flat_map(|bus| bus.rows(&output)).collect()
        }
        Err(error) => vec![Row::missing("messages, 1 -> 10 subscribers, 256 bytes", &error, "")],
    }
}

/// Returns the line of autogen-core, or the line that says why there is none.
fn autogen(root: &Path) -> String {
    let measured = install_autogen(root)
        .and_then(|python| output_of(program_in(root, python, &["bench/messages/autogen.py"])));
    measured.unwrap_or_else(|error| format!("autogen-core could not be run: {error:#}\n"))
}

fn install_autogen(root: &Path) -> Result<PathBuf> {
    let python = root.join(ENVIRONMENT).join("bin/python");
    let version = AUTOGEN.rsplit('=').next().context("a version is pinned")?;
    let is_here =
        format!("from importlib.metadata import version; assert version('autogen-core') == '{version}'");
    if !succeeds(program_in(root, &python, &["-c", &is_here])) {
        run_command(program_in(root, "python3", &["-m", "venv", "--clear", ENVIRONMENT]))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", AUTOGEN];
        run_command(program_in(root, &python, &pip))?;
    }
    Ok(python)
}

fn install(root: &Path, program: &str, package: &str) -> Result<()> {
    let found = format!("PATH=$PATH:/usr/sbin; command -v {program}");
    if succeeds(program_in(root, "sh", &["-c", &found])) {
        return Ok(());
    }
    install_system_packages(root, &[package])
}

impl Bus {
    fn rows(&self, output: &str) -> Vec<Row> {
        let deliveries = format!("messages {}, 1 -> 10 subscribers, 256 bytes", self.work);
        let requests = format!("request/reply {}", self.work);
        match figures(output, self.title) {
            Ok(own) => {
                let mut rows = self.part(output, &deliveries, &own, 0);
                rows.extend(self.part(output, &requests, &own, 3));
                rows
            }
            Err(error) => vec![Row::missing(&deliveries, &error, self.goals.deliveries)],
        }
    }

    /// Rows about rates and times that stand in three columns from `first` on.
    fn part(&self, output: &str, work: &str, own: &[f64], first: usize) -> Vec<Row> {
        let goal = if first == 0 { self.goals.deliveries } else { self.goals.requests };
        let mut rates = vec![Row::new(work, format!("{:.0}/s", own[first]), goal)];
        let times =
            |figures: &[f64]| format!("{}, {}", micros(figures[first + 1]), micros(figures[first + 2]));
        let mut waits = vec![Row::new("  one at a time, p50 and p99", times(own), self.goals.time)];
        for (index, name) in self.others.iter().enumerate() {
            let (rate, wait) = match figures(output, name) {
                Ok(other) => {
                    let rate = (format!("{name} {:.0}/s", other[first]), own[first] / other[first]);
                    (rate, (format!("{name} {}", times(&other)), own[first + 1] / other[first + 1]))
                }
                Err(error) => {
                    rates.push(Row::new("", format!("{name}: {error:#}"), ""));
                    continue;
                }
            };
            put_beside(&mut rates, index, rate);
            put_beside(&mut waits, index, wait);
        }
        rates.extend(waits);
        rates
    }
}

/// The first stands in the row that tells our own number, each further one in a row of its own.
fn put_beside(rows: &mut Vec<Row>, index: usize, compared: (String, f64)) {
    if index == 0 {
        rows[0].compared = Some(compared);
    } else {
        rows.push(Row { compared: Some(compared), ..Row::new("", String::new(), "") });
    }
}

/// Returns the six numbers of a line, or why there are none.
fn figures(output: &str, name: &str) -> Result<[f64; 6]> {
    let server = match name {
        "through Redis" | "Redis pub/sub" => "Redis",
        other => other,
    };
    let missing = format!("{server} could not be run: ");
    if let Some(why) = output.lines().find_map(|line| line.strip_prefix(&missing)) {
        bail!("could not be run: {why}");
    }
    let numbers = numbers(output, &format!("{name} "))?;
    numbers.try_into().map_err(|_| anyhow!("the line `{name}` has not six numbers"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
in process 2000000 2 3 400000 5 6
bare tokio 4000000 1 2 800000 2 3
Redis could not be run: it is not installed
NATS 500000 40 90 20000 80 100
autogen-core could not be run: no Python
";

    #[test]
    fn what_is_missing_is_said_beside_what_is_not() {
        let rows = BUSES[0].rows(OUTPUT);
        let told: Vec<String> = rows
            .iter()
            .map(|Row { work, result, compared, .. }| match compared {
                Some((with, ratio)) => format!("{work}|{result}|{with}|{ratio:.2}"),
                None => format!("{work}|{result}"),
            })
            .collect();
        assert_eq!(
            told,
            [
                "messages in process, 1 -> 10 subscribers, 256 bytes|2000000/s|bare tokio 4000000/s|0.50",
                "|Redis pub/sub: could not be run: it is not installed",
                "||NATS 500000/s|4.00",
                "|autogen-core: could not be run: no Python",
                "  one at a time, p50 and p99|2.0 us, 3.0 us|bare tokio 1.0 us, 2.0 us|2.00",
                "||NATS 40.0 us, 90.0 us|0.05",
                "request/reply in process|400000/s|bare tokio 800000/s|0.50",
                "|Redis pub/sub: could not be run: it is not installed",
                "||NATS 20000/s|20.00",
                "|autogen-core: could not be run: no Python",
                "  one at a time, p50 and p99|5.0 us, 6.0 us|bare tokio 2.0 us, 3.0 us|2.50",
                "||NATS 80.0 us, 100.0 us|0.06",
            ]
        );
        let [missing] = &BUSES[1].rows(OUTPUT)[..] else { panic!("one row") };
        assert_eq!(missing.result, "not measured: could not be run: it is not installed");
    }
}
