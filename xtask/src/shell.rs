//! Running other programs: shows each command line before it runs, and turns a bad exit into an error that names it.
//! Knows nothing about which programs there are.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// Returns a call of the cargo that runs us, so that nested calls use the same toolchain.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    program_in(root, &program, arguments)
}

/// Returns a call of `program` with `root` as its working folder.
pub(crate) fn program_in(root: &Path, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root).args(arguments);
    command
}

/// Runs a command with its output on ours.
pub(crate) fn run(mut command: Command) -> Result<()> {
    let line = command_line(&command);
    println!("$ {line}");
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Returns whether a command can be started and succeeds; its output is dropped.
pub(crate) fn succeeds(mut command: Command) -> bool {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_exit_names_the_command() {
        let error = run(program_in(Path::new("/"), "/bin/sh", &["-c", "exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "`sh -c exit 3` failed (exit status: 3)");
    }

    #[test]
    fn a_missing_program_does_not_succeed() {
        assert!(!succeeds(program_in(Path::new("/"), "/no/such/program", &[])));
        assert!(succeeds(program_in(Path::new("/"), "/bin/sh", &["-c", "exit 0"])));
    }
}
