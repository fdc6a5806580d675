//! The environment of a script: an allow-list, made of what it is about and of what it was granted. Pure: the variables
//! of artel itself come as a function.

use artel_model::id::{RunId, StepId};
use artel_model::name::SkillName;
use artel_model::trace::TraceParent;
use camino::{Utf8Path, Utf8PathBuf};

/// Where programs are looked for, before anything that an operator adds.
const SYSTEM_PATH: [&str; 6] =
    ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// The language of a script when artel has none: UTF-8 everywhere.
const LANGUAGE_DEFAULT: &str = "C.UTF-8";
/// What no skill may ask for: it would change which code runs in the child's place.
const NEVER: [&str; 4] = ["LD_", "GCONV_PATH", "GLIBC_TUNABLES", "ARTEL_"];

/// What a script's environment tells it about its attempt.
#[derive(Clone, Debug)]
pub struct EnvironmentFacts<'a> {
    /// The run.
    pub run: RunId,
    /// The step.
    pub step: &'a StepId,
    /// Which try, from 1.
    pub attempt: u32,
    /// The skill.
    pub skill: &'a SkillName,
    /// The folder that the script runs in.
    pub run_folder: &'a Utf8Path,
    /// The folder in which the skill keeps what should last.
    pub data_folder: &'a Utf8Path,
    /// Folders with programs that the operator adds.
    pub path: &'a [Utf8PathBuf],
    /// Variables that the skill asks for.
    pub asked: &'a [String],
    /// The place in a trace that the attempt is made at.
    pub trace_parent: Option<TraceParent>,
}

/// Returns the whole environment of a script, sorted by name.
///
/// `allowed` says which variables the operator lets skills ask for, `own` gives artel's own variables.
pub fn environment(
    facts: &EnvironmentFacts<'_>,
    allowed: impl Fn(&str) -> bool,
    own: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let folders = SYSTEM_PATH.into_iter().chain(facts.path.iter().map(|folder| folder.as_str()));
    let mut variables = vec![
        ("PATH", folders.collect::<Vec<_>>().join(":")),
        ("LANG", own("LANG").filter(|language| !language.is_empty()).unwrap_or(LANGUAGE_DEFAULT.to_owned())),
        ("HOME", facts.run_folder.to_string()),
        ("TMPDIR", facts.run_folder.to_string()),
        ("ARTEL_RUN_ID", facts.run.to_string()),
        ("ARTEL_STEP_ID", facts.step.to_string()),
        ("ARTEL_ATTEMPT", facts.attempt.to_string()),
        ("ARTEL_SKILL", facts.skill.to_string()),
        ("ARTEL_DATA_DIR", facts.data_folder.to_string()),
    ];
    variables.extend(facts.trace_parent.map(|place| ("TRACEPARENT", place.to_string())));
    variables.extend(own("TZ").map(|zone| ("TZ", zone)));
    for name in facts.asked {
        let is_free = variables.iter().all(|(known, _)| known != name);
        if is_free && may_be_asked(name) && allowed(name) {
            variables.extend(own(name).map(|value| (name.as_str(), value)));
        }
    }
    variables.sort_unstable();
    variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn may_be_asked(name: &str) -> bool {
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && !name.is_empty() && !NEVER.iter().any(|never| name.starts_with(never))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn shown(asked: &[&str], own: &[(&str, &str)]) -> String {
        let asked: Vec<String> = asked.iter().map(|name| (*name).to_owned()).collect();
        let facts = EnvironmentFacts {
            run: "123e4567-e89b-42d3-a456-426614174000".parse().unwrap(),
            step: &"navigate-1".parse().unwrap(),
            attempt: 2,
            skill: &"navigate".parse().unwrap(),
            run_folder: Utf8Path::new("/data/runs/1"),
            data_folder: Utf8Path::new("/skills/navigate/data"),
            path: &["/opt/tools".into()],
            asked: &asked,
            trace_parent: own
                .iter()
                .find(|(name, _)| *name == "outer")
                .map(|(_, place)| place.parse().unwrap()),
        };
        let own =
            |name: &str| own.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let variables = environment(&facts, |name| name != "NOT_ALLOWED", own);
        variables.iter().map(|(name, value)| format!("{name}={value}\n")).collect()
    }

    #[test]
    fn a_script_sees_what_it_is_about() {
        assert_snapshot!(shown(&[], &[("SECRET", "x"), ("HOME", "/root"), ("LD_PRELOAD", "/evil.so")]), @"
        ARTEL_ATTEMPT=2
        ARTEL_DATA_DIR=/skills/navigate/data
        ARTEL_RUN_ID=123e4567-e89b-42d3-a456-426614174000
        ARTEL_SKILL=navigate
        ARTEL_STEP_ID=navigate-1
        HOME=/data/runs/1
        LANG=C.UTF-8
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/tools
        TMPDIR=/data/runs/1
        ");
    }

    #[test]
    fn a_script_is_told_its_place_in_a_trace() {
        let place = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        let shown = shown(&["TRACEPARENT"], &[("outer", place), ("TRACEPARENT", "of artel itself")]);
        assert!(shown.contains(&format!("TRACEPARENT={place}\n")), "{shown}");
    }

    #[test]
    fn a_script_gets_what_it_asks_for_when_it_may() {
        let own = [
            ("LANG", "de_DE.UTF-8"),
            ("TZ", "Europe/Berlin"),
            ("API_KEY", "k"),
            ("NOT_ALLOWED", "n"),
            ("HOME", "/root"),
            ("PATH", "/evil"),
            ("LD_PRELOAD", "/evil.so"),
            ("ARTEL_KEY", "a"),
        ];
        let asked = [
            "API_KEY",
            "API_KEY",
            "NOT_ALLOWED",
            "MISSING",
            "HOME",
            "PATH",
            "LD_PRELOAD",
            "ARTEL_KEY",
            "TZ",
            "",
            "A=B",
        ];
        assert_snapshot!(shown(&asked, &own), @"
        API_KEY=k
        ARTEL_ATTEMPT=2
        ARTEL_DATA_DIR=/skills/navigate/data
        ARTEL_RUN_ID=123e4567-e89b-42d3-a456-426614174000
        ARTEL_SKILL=navigate
        ARTEL_STEP_ID=navigate-1
        HOME=/data/runs/1
        LANG=de_DE.UTF-8
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/tools
        TMPDIR=/data/runs/1
        TZ=Europe/Berlin
        ");
    }
}
