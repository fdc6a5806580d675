//! How long a server takes until it answers, and how much memory it holds when nobody asks.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::artel::Artel;
use super::data::{Skills, remove};
use super::report::{Row, milliseconds};
use super::served::{Memory, Served, without_limits};

/// Starts whose best time counts.
const ROUNDS: usize = 10;
/// Requests after which memory is looked at once more.
const REQUESTS: usize = 1000;
const START_GOAL: &str = "< 100 ms";
const MEMORY_GOAL: &str = "< 50 MiB";

/// Measures servers that start and idle.
pub(super) fn rows(root: &Path, artel: &Artel, skills: &Skills) -> Vec<Row> {
    let folder = root.join("target/bench");
    let place =
        Place { artel: Artel { program: artel.program.clone(), data: folder.join("serve-data") }, folder };
    let none = place.folder.join("no-skills");
    let mut rows = Vec::new();
    for (skills, title, goals) in [
        (none.as_path(), "the built-in skills", (START_GOAL, MEMORY_GOAL)),
        (skills.groups[0].as_path(), "1,000 skills more", ("", "")),
    ] {
        match place.measure(skills, title, goals) {
            Ok(measured) => rows.extend(measured),
            Err(error) => {
                rows.push(Row::missing(&format!("server with {title}, first answer"), &error, goals.0));
            }
        }
    }
    rows
}

struct Place {
    artel: Artel,
    folder: std::path::PathBuf,
}

impl Place {
    fn measure(
        &self,
        skills: &Path,
        title: &str,
        (start_goal, memory_goal): (&'static str, &'static str),
    ) -> Result<Vec<Row>> {
        fs::create_dir_all(skills)?;
        let (mut first, mut again) = (Duration::MAX, Duration::MAX);
        // With many skills the first start is long, as all of them are scanned.
        for _ in 0..if start_goal.is_empty() { 2 } else { ROUNDS } {
            self.forget()?;
            first = first.min(self.start(skills)?.first_answer()?);
            again = again.min(self.start(skills)?.first_answer()?);
        }
        let served = self.start(skills)?;
        served.first_answer()?;
        let idle = served.memory()?;
        for _ in 0..REQUESTS {
            served.get("/healthz", &[])?;
        }
        let after = served.memory()?;
        Ok(vec![
            Row::new(&format!("server with {title}, first answer"), milliseconds(again), start_goal),
            Row::new(
                "  in a data folder that is empty: all skills are scanned",
                milliseconds(first),
                start_goal,
            ),
            Row::new("  memory when idle", told(&idle), memory_goal),
            Row::new(&format!("  memory after {REQUESTS} connections with a request each"), told(&after), ""),
        ])
    }

    fn forget(&self) -> Result<()> {
        let data = &self.artel.data;
        if data.exists() {
            remove(data)?;
        }
        Ok(())
    }

    fn start(&self, skills: &Path) -> Result<Served> {
        let mut command = self.artel.command(&["serve", "--listen", "127.0.0.1:0"], &[skills]);
        command.arg("--config").arg(without_limits(&self.folder)?);
        Served::start(command)
    }
}

fn told(memory: &Memory) -> String {
    let mebibytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    format!("{:.0} MiB, {:.0} of them its own", mebibytes(memory.resident), mebibytes(memory.own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_told_in_mebibytes() {
        let memory = Memory { resident: 45 << 20, own: 10 << 20 };
        assert_eq!(told(&memory), "45 MiB, 10 of them its own");
    }
}
