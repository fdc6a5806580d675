//! Requests of the catalog beside a bare axum server that answers with the same bytes, under the same load, in turn.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::artel::Artel;
use super::data::Skills;
use super::measure::output_of;
use super::report::Row;
use super::served::{Served, without_limits};
use crate::shell::{cargo, program_in, run as run_command, succeeds};
use crate::tools::install_system_packages;

const SOURCES: &str = "bench/http";
/// Connections of the load.
const CONNECTIONS: &str = "-c32";
/// How long each load lasts.
const LASTS: &str = "-d4s";
/// How often each is measured; the best counts.
const ROUNDS: usize = 3;
const PAGE: &str = "/api/skills?page_size=50";
const GOAL: &str = ">= 0.5";

/// Measures requests.
pub(super) fn rows(root: &Path, artel: &Artel, skills: &Skills) -> Vec<Row> {
    let measured = Load::prepare(root, artel, skills).and_then(|load| load.measure());
    measured.unwrap_or_else(|error| vec![Row::missing("GET /api/skills", &error, GOAL)])
}

/// What a load came to.
#[derive(Clone, Debug, PartialEq)]
struct Rate {
    per_second: f64,
    /// The time of 99 of 100 answers, as wrk writes it.
    p99: String,
}

struct Load {
    artel: Served,
    bare: Served,
    key: String,
    tag: String,
    /// The path of one skill.
    skill: String,
    page_bytes: usize,
    words: PathBuf,
}

impl Load {
    fn prepare(root: &Path, artel: &Artel, skills: &Skills) -> Result<Self> {
        if !succeeds(program_in(root, "sh", &["-c", "command -v wrk"])) {
            install_system_packages(root, &["wrk"])?;
        }
        let folder = root.join("target/bench");
        let artel = Artel { program: artel.program.clone(), data: folder.join("http-data") };
        let group = [skills.groups[0].as_path()];
        let key = output_of(artel.command(&["key", "create", "--quiet"], &group))?.trim().to_owned();
        let mut command = artel.command(&["serve", "--listen", "127.0.0.1:0"], &group);
        command.arg("--config").arg(without_limits(&folder)?);
        let served = Served::start(command)?;
        let page = served.get(PAGE, &[&key_header(&key)])?;
        let file = folder.join("page.json");
        fs::write(&file, &page.body).with_context(|| format!("cannot write `{}`", file.display()))?;
        Ok(Self {
            tag: page.header("etag").context("the page has no tag")?.to_owned(),
            bare: bare_axum(root, &file)?,
            artel: served,
            key,
            skill: "/api/skills/default%2Fskill-00000".to_owned(),
            page_bytes: page.body.len(),
            words: root.join(SOURCES).join("words.lua"),
        })
    }

    fn measure(&self) -> Result<Vec<Row>> {
        let known = format!("If-None-Match: {}", self.tag);
        let page = self.compared(&[], "200, with a key")?;
        let unchanged = self.compared(&[&known], "304, with a key and its ETag")?;
        let words = self.words.display().to_string();
        let search = self.best(&self.artel, PAGE, &[], &["-s", &words])?;
        let skill = self.best(&self.artel, &self.skill, &[], &[])?;
        let title = format!("GET /api/skills, 50 of 1,000, {} KB: ", self.page_bytes / 1000);
        Ok(vec![
            Row { work: title + &page.work, ..page },
            Row { work: format!("  {}", unchanged.work), ..unchanged },
            Row::new("  two words to search for, others every time", search.told(), ""),
            Row::new("GET /api/skills/{id}", skill.told(), ""),
        ])
    }

    fn compared(&self, headers: &[&str], work: &str) -> Result<Row> {
        let mut best: [Option<Rate>; 2] = [None, None];
        for _ in 0..ROUNDS {
            for (server, best) in [&self.artel, &self.bare].into_iter().zip(&mut best) {
                *best = better(best.take(), self.once(server, PAGE, headers, &[])?);
            }
        }
        let [Some(own), Some(bare)] = best else { anyhow::bail!("nothing was measured") };
        let ratio = own.per_second / bare.per_second;
        let compared = Some((format!("bare axum {}", bare.told()), ratio));
        Ok(Row { compared, ..Row::new(work, own.told(), GOAL) })
    }

    fn best(&self, server: &Served, path: &str, headers: &[&str], options: &[&str]) -> Result<Rate> {
        let mut best = None;
        for _ in 0..ROUNDS {
            best = better(best, self.once(server, path, headers, options)?);
        }
        best.context("nothing was measured")
    }

    fn once(&self, server: &Served, path: &str, headers: &[&str], options: &[&str]) -> Result<Rate> {
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", CONNECTIONS, LASTS, "--latency", "-H", &key_header(&self.key)]).args(options);
        for header in headers {
            wrk.args(["-H", header]);
        }
        rate(&output_of({
            wrk.arg(format!("http://{}{path}", server.address));
            wrk
        })?)
    }
}

impl Rate {
    fn told(&self) -> String {
        format!("{:.0}/s, p99 {}", self.per_second, self.p99)
    }
}

fn key_header(key: &str) -> String {
    format!("X-Artel-Key: {key}")
}

fn better(best: Option<Rate>, rate: Rate) -> Option<Rate> {
    Some(best.filter(|best| best.per_second >= rate.per_second).unwrap_or(rate))
}

fn bare_axum(root: &Path, page: &Path) -> Result<Served> {
    let target = root.join("target/bench/bare-axum");
    let manifest = root.join(SOURCES).join("bare-axum/Cargo.toml");
    let mut build = cargo(root, &["build", "--release", "--quiet", "--locked"]);
    build.arg("--manifest-path").arg(manifest).arg("--target-dir").arg(&target);
    run_command(build)?;
    let mut command = Command::new(target.join("release/bare-axum"));
    command.arg(page);
    Served::start(command)
}

/// Reads what wrk prints. A load with errors in it measured something else.
fn rate(output: &str) -> Result<Rate> {
    let value = |name: &str| {
        let line = output.lines().map(str::trim).find_map(|line| line.strip_prefix(name));
        line.map(|line| line.trim().to_owned())
    };
    for wrong in ["Non-2xx or 3xx responses:", "Socket errors:"] {
        if let Some(count) = value(wrong) {
            anyhow::bail!("{wrong} {count}");
        }
    }
    let per_second = value("Requests/sec:").context("wrk says no rate")?;
    let per_second = per_second.parse().with_context(|| format!("`{per_second}` is no rate"))?;
    Ok(Rate { per_second, p99: value("99%").context("wrk says no times")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str =
        "  Latency Distribution\n     50%  1.00ms\n     99%    2.09ms\nRequests/sec:  34596.68\n";

    #[test]
    fn what_wrk_prints_is_read() {
        assert_eq!(rate(OUTPUT).unwrap(), Rate { per_second: 34596.68, p99: "2.09ms".to_owned() });
        assert!(rate(&format!("{OUTPUT}  Non-2xx or 3xx responses: 3\n")).is_err());
        assert!(rate("unable to connect\n").is_err());
    }

    #[test]
    fn the_best_rate_counts() {
        let rate = |per_second| Rate { per_second, p99: String::new() };
        let best = [1.0, 3.0, 2.0].into_iter().fold(None, |best, one| better(best, rate(one)));
        assert_eq!(best, Some(rate(3.0)));
    }
}
