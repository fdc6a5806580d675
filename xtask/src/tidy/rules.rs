//! The boundaries inside the code, as a table: what may be mentioned where. Rules about Cargo.toml are in `crates`.

use super::mentions::{Mention, What};
use super::problem::Problem;
use super::source::RustSource;

/// What must not be mentioned, and where the rule holds.
struct Rule {
    name: &'static str,
    message: &'static str,
    /// `a::b` is part of a path, `a::` is the root of a path, `.a()` a method, `a!` a macro, `#a` an attribute.
    banned: &'static [&'static [&'static str]],
    /// The path prefix that the rule holds for; `""` is everywhere.
    within: &'static str,
    /// Path prefixes and file names (`/name.rs`) that the rule does not hold for.
    except: &'static [&'static str],
    tests: Tests,
}

#[derive(PartialEq)]
enum Tests {
    Exempt,
    Included,
}

const SQL: &[&str] = &["rusqlite::", "sqlx::", "libsqlite3_sys::", "tokio_postgres::"];
const PROCESSES: &[&str] = &[
    "process::Command",
    "process::Child",
    "process::CommandExt",
    "process::*",
    "tokio::process",
    "rustix::process",
    "libc::fork",
    "libc::kill",
    "libc::killpg",
    "libc::execve",
    "libc::posix_spawn",
    "nix::unistd",
    "signal::kill",
];
const CLOCK: &[&str] =
    &["SystemTime::now", "Instant::now", "Utc::now", "Local::now", "Timestamp::now", "Zoned::now"];
const ENVIRONMENT: &[&str] = &[
    "env::var",
    "env::var_os",
    "env::vars",
    "env::vars_os",
    "env::set_var",
    "env::remove_var",
    "env::home_dir",
    "env::*",
];
const RANDOMNESS: &[&str] =
    &["rand::", "fastrand::", "getrandom::", "thread_rng", "Uuid::new_v4", "Uuid::now_v7", "RandomState"];
const OUTSIDE_WORLD: &[&str] =
    &["std::env", "std::fs", "std::net", "std::os", "std::process", "std::thread", "tokio::"];
/// Methods of paths that look at the disk.
const DISK: &[&str] = &[
    ".exists()",
    ".try_exists()",
    ".is_file()",
    ".is_dir()",
    ".is_symlink()",
    ".canonicalize()",
    ".canonicalize_utf8()",
    ".read_dir()",
    ".read_dir_utf8()",
    ".read_link()",
    ".symlink_metadata()",
];

/// The model has a stricter rule of its own, which holds for its tests too.
const MODEL: &str = "crates/artel-model/src/";

const RULES: &[Rule] = &[
    Rule {
        name: "sql",
        message: "only the two database stores and the CAD store know SQL",
        banned: &[SQL],
        within: "",
        except: &[
            "crates/artel-store-sqlite/",
            "crates/artel-store-postgres/",
            "crates/artel-cad/src/store/",
        ],
        tests: Tests::Included,
    },
    Rule {
        name: "process",
        message: "only the engine's process module starts or signals a process",
        banned: &[PROCESSES],
        within: "",
        except: &[
            "bench/",
            "crates/artel-engine/src/process",
            "crates/artel-cad/src/kernel/process.rs",
            "xtask/",
            MODEL,
        ],
        tests: Tests::Exempt,
    },
    Rule {
        name: "clock",
        message: "time is an argument; only the binary and `clock.rs` read the clock",
        banned: &[CLOCK],
        within: "",
        except: &["bench/", "crates/artel/", "/clock.rs", "xtask/", MODEL],
        tests: Tests::Exempt,
    },
    Rule {
        name: "environment",
        message: "the environment is read once, in the binary's configuration, and passed on",
        banned: &[ENVIRONMENT],
        within: "",
        except: &["crates/artel/src/config", "crates/artel-cad/src/config.rs", "xtask/", MODEL],
        tests: Tests::Exempt,
    },
    Rule {
        name: "pure-model",
        message: "the model only decides; time, chance, settings and contents are arguments",
        banned: &[CLOCK, RANDOMNESS, OUTSIDE_WORLD, DISK],
        within: MODEL,
        except: &[],
        tests: Tests::Included,
    },
    Rule {
        name: "unwrap",
        message: "return an error, or `expect` with the reason why it cannot fail",
        banned: &[&[".unwrap()"]],
        within: "",
        except: &[],
        tests: Tests::Exempt,
    },
    Rule {
        name: "allow",
        message: "write `#[expect(lint, reason = \"...\")]`: it says why and disappears when it is not needed",
        banned: &[&["#allow"]],
        within: "",
        except: &[],
        tests: Tests::Included,
    },
    Rule {
        name: "unfinished",
        message: "finish it, or leave it out",
        banned: &[&["todo!", "unimplemented!", "dbg!"]],
        within: "",
        except: &[],
        tests: Tests::Included,
    },
    Rule {
        name: "ignored-test",
        message: "assert what happens today and say that it is wrong, or delete the test",
        banned: &[&["#ignore"]],
        within: "",
        except: &[],
        tests: Tests::Included,
    },
];

/// Returns every mention in a file that a rule forbids there.
pub(crate) fn check(source: &RustSource) -> Vec<Problem> {
    let rules = RULES.iter().filter(|rule| rule.holds_for(source));
    rules
        .flat_map(|rule| source.mentions.iter().filter_map(|mention| rule.problem(source, mention)))
        .collect()
}

impl Rule {
    fn holds_for(&self, source: &RustSource) -> bool {
        let excepted = |place: &&str| {
            source.path.starts_with(*place) || (place.starts_with('/') && source.path.ends_with(*place))
        };
        source.path.starts_with(self.within) && !self.except.iter().any(excepted)
    }

    fn problem(&self, source: &RustSource, mention: &Mention) -> Option<Problem> {
        if self.tests == Tests::Exempt && mention.in_test {
            return None;
        }
        let banned = self.banned.iter().copied().flatten().find(|pattern| matches(pattern, &mention.what))?;
        let message = format!("`{}`: {}", banned.replace('#', "#["), self.message);
        Some(Problem::new(&source.path, mention.line, self.name, message))
    }
}

fn matches(pattern: &str, what: &What) -> bool {
    match what {
        What::Path(segments) => match pattern.strip_suffix("::") {
            Some(root) => segments.len() > 1 && segments[0] == root,
            None => {
                let wanted: Vec<&str> = pattern.split("::").collect();
                segments.windows(wanted.len()).any(|window| window == wanted)
            }
        },
        What::Method(name) => pattern.strip_prefix('.') == Some(&format!("{name}()")),
        What::Macro(name) => pattern.strip_suffix('!') == Some(name),
        What::Attribute(name) => pattern.strip_prefix('#') == Some(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_rules(path: &str, text: &str, expected: &[&str]) {
        let source = RustSource::parse(path, text).map_err(|problem| problem.to_string()).unwrap();
        let found: Vec<&str> = check(&source).iter().map(|problem| problem.rule).collect();
        assert_eq!(found, expected, "{path}: {text}");
    }

    const CATALOG: &str = "crates/artel-catalog/src/load.rs";
    const PLAN: &str = "crates/artel-model/src/plan.rs";

    #[test]
    fn sql_lives_in_the_stores() {
        check_rules(CATALOG, "use rusqlite::Connection;", &["sql"]);
        check_rules(CATALOG, "#[cfg(test)] mod tests { use sqlx::Row; }", &["sql"]);
        check_rules("crates/artel-store-sqlite/src/plan.rs", "use rusqlite::Connection;", &[]);
    }

    #[test]
    fn processes_live_in_the_engine() {
        check_rules(CATALOG, "use std::process::{Command, ExitCode};", &["process"]);
        check_rules(CATALOG, "fn a() { tokio::process::Command::new(\"x\"); }", &["process"]);
        check_rules(CATALOG, "fn a() { unsafe { libc::kill(1, 9) } }", &["process"]);
        check_rules("crates/artel-engine/src/process/spawn.rs", "use std::process::Command;", &[]);
        check_rules("crates/artel/tests/cli.rs", "use std::process::Command;", &[]);
        check_rules(
            "crates/artel/src/main.rs",
            "use std::process::ExitCode; clap::Command::new(\"artel\");",
            &[],
        );
    }

    #[test]
    fn the_clock_is_read_in_one_place() {
        check_rules(CATALOG, "fn a() { std::time::Instant::now(); }", &["clock"]);
        check_rules("crates/artel-engine/src/clock.rs", "fn a() { Timestamp::now(); }", &[]);
        check_rules("crates/artel/src/main.rs", "fn a() { Timestamp::now(); }", &[]);
        check_rules(CATALOG, "fn a(now: Instant) {}", &[]);
    }

    #[test]
    fn the_environment_is_read_in_the_configuration() {
        check_rules("crates/artel/src/main.rs", "fn a() { std::env::var(\"HOME\"); }", &["environment"]);
        check_rules("crates/artel/src/config.rs", "fn a() { std::env::var(\"HOME\"); }", &[]);
        check_rules("crates/artel/src/main.rs", "fn a() { std::env::args(); env!(\"X\"); }", &[]);
    }

    #[test]
    fn the_model_is_pure() {
        for text in
            ["use std::{fs, io};", "use tokio::sync;", "fn a() { rand::random(); }", "fn a() { p.exists(); }"]
        {
            check_rules(PLAN, text, &["pure-model"]);
            check_rules(CATALOG, text, &[]);
        }
        check_rules(PLAN, "fn a() { Instant::now(); }", &["pure-model"]);
        check_rules(PLAN, "#[test] fn a() { std::env::var(\"HOME\"); }", &["pure-model"]);
        check_rules(PLAN, "use std::collections::BTreeMap; fn a(rand: u8) -> u8 { rand }", &[]);
    }

    #[test]
    fn nothing_unfinished_or_silenced() {
        check_rules(CATALOG, "fn a() { b.unwrap(); }", &["unwrap"]);
        check_rules(CATALOG, "fn a() { b.unwrap_or(1); }\n#[test] fn c() { d.unwrap(); }", &[]);
        check_rules(CATALOG, "#[cfg_attr(unix, allow(dead_code))] fn a() {}", &["allow"]);
        check_rules(CATALOG, "#![allow(dead_code)]", &["allow"]);
        check_rules(CATALOG, "#[expect(dead_code)] fn allow() { allow(); }", &[]);
        check_rules(CATALOG, "fn a() { todo!() }", &["unfinished"]);
        check_rules(CATALOG, "fn todo() { if !dbg { vec![1]; } }", &[]);
        check_rules(CATALOG, "#[test] #[ignore = \"slow\"] fn a() {}", &["ignored-test"]);
    }
}
