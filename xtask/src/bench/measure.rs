//! Running programs for their time and memory.

use std::fs;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

/// Runs the commands in turn, so that a busy moment hits them alike, and returns the best time of each.
pub(crate) fn best_times(commands: &mut [Command], rounds: usize) -> Result<Vec<Duration>> {
    let mut best = vec![Duration::MAX; commands.len()];
    for round in 0..=rounds {
        for (command, best) in commands.iter_mut().zip(&mut best) {
            let took = time(command)?;
            // The first round only warms the caches up.
            if round > 0 {
                *best = took.min(*best);
            }
        }
    }
    Ok(best)
}

/// Returns the best time of one command.
pub(crate) fn best_time(command: Command, rounds: usize) -> Result<Duration> {
    Ok(best_times(&mut [command], rounds)?[0])
}

/// Runs a command once; that it finds nothing, or something wrong, is no failure here.
fn time(command: &mut Command) -> Result<Duration> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let started = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let took = started.elapsed();
    match status.code() {
        Some(0 | 1) => Ok(took),
        _ => bail!("{:?} ended badly ({status})", command.get_program()),
    }
}

/// Returns the most memory a command has held, in bytes, when it starts to print what it found.
///
/// Its output goes into a pipe. When the first byte comes out of it, everything has been loaded, and the program waits
/// for us to read on; its peak can be looked up meanwhile.
pub(crate) fn peak_bytes(mut command: Command) -> Result<u64> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    let mut output = child.stdout.take().context("its output was asked for")?;
    output.read_exact(&mut [0]).context("cannot read what it prints")?;
    let status = fs::read_to_string(format!("/proc/{}/status", child.id()));
    std::io::copy(&mut output, &mut std::io::sink()).context("cannot read what it prints")?;
    child.wait().context("cannot wait for it")?;
    peak_of(&status.context("cannot read its memory from `/proc`")?).context("`/proc` does not say its peak")
}

fn peak_of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Runs a command and returns what it prints.
pub(crate) fn output_of(mut command: Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {:?}", command.get_program()))?;
    if !output.status.success() {
        bail!("{:?} failed ({})", command.get_program(), output.status);
    }
    String::from_utf8(output.stdout).context("it printed something that is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read_from_the_status() {
        assert_eq!(peak_of("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t1 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(peak_of("Name:\tx\n"), None);
    }

    #[test]
    fn a_program_that_ends_badly_is_not_measured() {
        let shell = |script: &str| {
            let mut command = Command::new("/bin/sh");
            command.args(["-c", script]);
            command
        };
        assert!(best_time(shell("exit 1"), 1).is_ok());
        assert!(best_time(shell("exit 3"), 1).is_err());
        // More than a pipe holds, so that it is still there to be looked at.
        assert!(peak_bytes(shell("exec head -c 1000000 /dev/zero")).is_ok_and(|bytes| bytes > 0));
    }
}
