//! What came of an attempt: what the script said, and how its process ended, weighed against each other.

use super::collector::{Collector, Done, LastError};
use super::violation::{Violation, ViolationKind, quote};
use crate::health::{is_input_error, is_network_error};
use crate::run::{AttemptOutcome, ErrorKind, Fault, Retry, StepError};

/// How a process ended.
#[derive(Clone, Debug)]
pub struct ExitFacts<'a> {
    /// How its leader ended.
    pub end: End,
    /// Why it was told to end, when it was.
    pub stop: Option<StopReason>,
    /// The end of what it wrote to stderr.
    pub stderr: &'a str,
    /// What probably was the reason, in a sentence: a limit, the sandbox.
    pub explanation: Option<String>,
}

/// How a process ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum End {
    /// By itself, with this exit code.
    Code(i32),
    /// Otherwise; in words such as "signal 9 (SIGKILL)".
    Otherwise(String),
}

/// Why a process was told to end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StopReason {
    /// It took too long.
    Timeout {
        /// Milliseconds it was given.
        after_ms: u64,
    },
    /// Somebody does not want it any more.
    Cancelled,
    /// artel itself is ending.
    Shutdown,
}

impl Collector {
    /// Says what came of the attempt. A stop counts before a violation, a violation before the exit code, and an exit
    /// code other than 0 before everything that was said.
    pub fn finish(self, facts: ExitFacts<'_>) -> AttemptOutcome {
        let said = self.said;
        if let Some(reason) = facts.stop {
            return stopped(reason, said.last_error.as_ref());
        }
        if let Some(violation) = &said.violation {
            return violated(violation, None);
        }
        let quoted = said.last_error.as_ref().map(in_words).or_else(|| last_line(facts.stderr));
        let fault = whose_fault(&facts.end, said.last_error.as_ref(), said.done.as_ref());
        match (&facts.end, said.done) {
            (End::Otherwise(how), _) => {
                let message = sentence(&format!("the script ended with {how}"), quoted, facts.explanation);
                failed(message, None, fault)
            }
            (End::Code(0), None) => violated(&Violation::whole(ViolationKind::NoDone), Some(0)),
            (End::Code(0), Some(Done { ok: true, output, summary, .. })) => {
                let (merged, patches) = said.patches.into_parts();
                AttemptOutcome::Completed { output: output.unwrap_or(merged), patches, summary }
            }
            (End::Code(0), Some(Done { ok: false, summary, .. })) => {
                let what = match summary.as_deref().map(str::trim).filter(|summary| !summary.is_empty()) {
                    Some(summary) => format!("the script failed: {}", quote(summary.as_bytes())),
                    None => "the script says that it failed".to_owned(),
                };
                let error = said.last_error.as_ref().map(in_words);
                failed(sentence(&what, error, facts.explanation), Some(0), fault)
            }
            (End::Code(code), _) => failed(
                sentence(&format!("the script ended with exit code {code}"), quoted, facts.explanation),
                Some(*code),
                fault,
            ),
        }
    }
}

/// Says whose fault it is that a script failed which was not told to end. A script that says in the protocol why it stops, and
/// then ends with an exit code of its own, judged its input: that says nothing about the skill. Neither does a failure that
/// names the input as its cause. A crash does, and an end without a word.
fn whose_fault(end: &End, error: Option<&LastError>, done: Option<&Done>) -> Fault {
    let code = error.map(|error| error.code.as_str());
    match end {
        _ if code.is_some_and(is_network_error) => Fault::Network,
        End::Otherwise(_) => Fault::Skill,
        End::Code(_) if code.is_some_and(is_input_error) => Fault::Elsewhere,
        End::Code(0) => Fault::Skill,
        End::Code(_) if error.is_some() || done.is_some_and(|done| !done.ok) => Fault::Elsewhere,
        End::Code(_) => Fault::Skill,
    }
}

fn stopped(reason: StopReason, error: Option<&LastError>) -> AttemptOutcome {
    let (kind, what, retry) = match reason {
        StopReason::Timeout { after_ms } => {
            (ErrorKind::Timeout, format!("the script took longer than {after_ms} ms"), Retry::Useful)
        }
        StopReason::Cancelled => {
            (ErrorKind::Cancelled, "the script was cancelled".to_owned(), Retry::Useless)
        }
        StopReason::Shutdown => (
            ErrorKind::Cancelled,
            "the script was ended because artel is shutting down".to_owned(),
            Retry::Useful,
        ),
    };
    let message = sentence(&what, error.map(in_words), None);
    AttemptOutcome::Failed { error: StepError { kind, message, exit_code: None }, retry, fault: Fault::Skill }
}

fn violated(violation: &Violation, exit_code: Option<i32>) -> AttemptOutcome {
    let error = StepError { kind: ErrorKind::ProtocolViolation, message: violation.to_string(), exit_code };
    AttemptOutcome::Failed { error, retry: Retry::Useless, fault: Fault::Skill }
}

fn failed(message: String, exit_code: Option<i32>, fault: Fault) -> AttemptOutcome {
    let error = StepError { kind: ErrorKind::ToolExecutionFailed, message, exit_code };
    AttemptOutcome::Failed { error, retry: Retry::Useful, fault }
}

fn sentence(what: &str, quoted: Option<String>, explanation: Option<String>) -> String {
    let told = quoted.filter(|quoted| !quoted.is_empty()).map(|quoted| format!(": {quoted}"));
    let why = explanation.map(|explanation| format!(" ({explanation})"));
    format!("{what}{}{}", told.unwrap_or_default(), why.unwrap_or_default())
}

fn in_words(error: &LastError) -> String {
    format!("{}: {}", quote(error.code.as_bytes()), quote(error.message.as_bytes()))
}

/// Returns the last line that says something; with most programs that is the error.
fn last_line(stderr: &str) -> Option<String> {
    let line = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(quote(line.as_bytes()))
}
