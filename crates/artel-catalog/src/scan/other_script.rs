//! Searches scripts in languages that are not parsed (PowerShell, batch, AppleScript, Ruby, Perl, PHP and so on) for what
//! is bad in any of them.

use super::code::{Address, address_of, addresses};
use super::piece::Piece;
use super::rule::Rule;
use super::rules::{behaviour, harm};
use super::session::Session;
use artel_model::catalog::Severity;

/// Words that stand together in one line, and what that means.
struct Sign {
    all: &'static [&'static str],
    any: &'static [&'static str],
    rule: &'static Rule,
    severity: Severity,
    message: &'static str,
}

const FETCH: &[&str] = &[
    "http://",
    "https://",
    "downloadstring",
    "invoke-webrequest",
    "invoke-restmethod",
    "iwr ",
    "irm ",
    "net::http",
    "file_get_contents(",
];

static SIGNS: &[Sign] = &[
    Sign {
        all: &["iex"],
        any: FETCH,
        rule: &behaviour::DOWNLOAD_AND_RUN,
        severity: Severity::High,
        message: "what is fetched is run",
    },
    Sign {
        all: &["invoke-expression"],
        any: FETCH,
        rule: &behaviour::DOWNLOAD_AND_RUN,
        severity: Severity::High,
        message: "what is fetched is run",
    },
    Sign {
        all: &["downloadfile"],
        any: &["start-process", "& "],
        rule: &behaviour::DOWNLOAD_AND_RUN,
        severity: Severity::High,
        message: "what is fetched is run",
    },
    Sign {
        all: &["mshta"],
        any: &["http"],
        rule: &behaviour::DOWNLOAD_AND_RUN,
        severity: Severity::Critical,
        message: "what is fetched is run",
    },
    Sign {
        all: &["certutil"],
        any: &["-urlcache", "-decode"],
        rule: &behaviour::DOWNLOAD_AND_RUN,
        severity: Severity::High,
        message: "a program is fetched in a roundabout way",
    },
    Sign {
        all: &["bitsadmin", "/transfer"],
        any: &[],
        rule: &behaviour::DOWNLOAD_AND_RUN,
        severity: Severity::High,
        message: "a program is fetched in a roundabout way",
    },
    Sign {
        all: &["frombase64string"],
        any: &["iex", "invoke-expression", "assembly]::load", "scriptblock"],
        rule: &behaviour::RUN_DECODED,
        severity: Severity::Critical,
        message: "text is decoded and then run",
    },
    Sign {
        all: &["powershell", "-e"],
        any: &["-enc", "-encodedcommand"],
        rule: &behaviour::RUN_DECODED,
        severity: Severity::Critical,
        message: "an encoded command is run",
    },
    Sign {
        all: &["eval", "base64"],
        any: &["decode", "unpack"],
        rule: &behaviour::RUN_DECODED,
        severity: Severity::Critical,
        message: "text is decoded and then run",
    },
    Sign {
        all: &["eval", "unpack("],
        any: &["'m", "\"m"],
        rule: &behaviour::RUN_DECODED,
        severity: Severity::Critical,
        message: "text is decoded and then run",
    },
    Sign {
        all: &["mppreference"],
        any: &["exclusion", "disable"],
        rule: &harm::WEAKEN,
        severity: Severity::High,
        message: "the virus scanner is weakened",
    },
    Sign {
        all: &["currentversion\\run"],
        any: &["reg add", "set-itemproperty", "new-itemproperty"],
        rule: &harm::SCHEDULE,
        severity: Severity::High,
        message: "a program is started at every login",
    },
    Sign {
        all: &["schtasks", "/create"],
        any: &[],
        rule: &harm::SCHEDULE,
        severity: Severity::Medium,
        message: "a job is set up",
    },
    Sign {
        all: &["vssadmin", "delete"],
        any: &[],
        rule: &harm::DESTROY,
        severity: Severity::Critical,
        message: "copies of the disk are deleted",
    },
    Sign {
        all: &["tcpclient"],
        any: &["getstream", "203.", "new-object"],
        rule: &harm::REVERSE_SHELL,
        severity: Severity::High,
        message: "a raw connection is opened",
    },
    Sign {
        all: &["fsockopen"],
        any: &["/bin/sh", "proc_open", "exec("],
        rule: &harm::REVERSE_SHELL,
        severity: Severity::Critical,
        message: "a shell is connected to the network",
    },
    Sign {
        all: &["socket", "open(std"],
        any: &["exec"],
        rule: &harm::REVERSE_SHELL,
        severity: Severity::Critical,
        message: "a shell is connected to the network",
    },
    Sign {
        all: &["tcpsocket"],
        any: &["exec", "spawn", "/bin/sh"],
        rule: &harm::REVERSE_SHELL,
        severity: Severity::Critical,
        message: "a shell is connected to the network",
    },
    Sign {
        all: &["display dialog", "hidden answer"],
        any: &["password"],
        rule: &behaviour::READ_CREDENTIALS,
        severity: Severity::High,
        message: "a window asks for the password",
    },
    Sign {
        all: &["remove-item", "-recurse"],
        any: &["$env:userprofile", "c:\\ ", "$home", "c:\\users"],
        rule: &harm::DESTROY,
        severity: Severity::Critical,
        message: "the home folder is deleted",
    },
    Sign {
        all: &["getasynckeystate"],
        any: &[],
        rule: &harm::WATCH_USER,
        severity: Severity::High,
        message: "what is typed is recorded",
    },
];

/// Files that hold credentials, as they are named in any language.
const VAULTS: &[&str] = &[
    "/.ssh/id_",
    "\\.ssh\\id_",
    "login data",
    "wallet.dat",
    "/.aws/credentials",
    "\\.aws\\credentials",
    "key4.db",
    "/etc/shadow",
    "local extension settings",
];
/// What sends data, in any language.
const SENDERS: &[&str] = &[
    "invoke-restmethod",
    "invoke-webrequest",
    "uploadfile",
    "uploadstring",
    "net::http",
    "curl",
    "file_get_contents(",
    "http.post",
    "lwp::",
    "reqwest",
    "http.newrequest",
    "webhook",
];

/// Says whether everything that a line fetches comes from a service whose installer many people run.
fn is_known_installer(session: &Session, line: &str) -> bool {
    let found = addresses(line);
    let is_known = |url: &str| address_of(url) == Address::Installer || session.about.owns(url);
    !found.is_empty() && found.iter().all(|(_, url)| is_known(url))
}

/// Reports what is bad in a script that is not parsed.
pub(super) fn check(session: &mut Session, piece: &Piece<'_>) {
    let lower = piece.text.to_ascii_lowercase();
    for (row, line) in lower.lines().enumerate() {
        for sign in SIGNS {
            let all = sign.all.iter().all(|word| line.contains(word));
            let any = sign.any.is_empty() || sign.any.iter().any(|word| line.contains(word));
            if all && any {
                let number = piece.line_of_row(row);
                let is_known =
                    sign.rule.is(&behaviour::DOWNLOAD_AND_RUN) && is_known_installer(session, line);
                let severity = if is_known { Severity::Low } else { sign.severity };
                session.collector.report_as(piece, sign.rule, severity, number, sign.message);
            }
        }
    }
    let vault = VAULTS.iter().find_map(|name| lower.find(name));
    if let Some(at) = vault {
        let line = piece.line_at(at);
        let sends = SENDERS.iter().any(|word| lower.contains(word));
        let rule = if sends { &behaviour::EXFILTRATE_CREDENTIALS } else { &behaviour::READ_CREDENTIALS };
        let message = if sends {
            "a file that holds credentials is named, and data is sent"
        } else {
            "a file that holds credentials is named"
        };
        session.collector.report(piece, rule, line, message);
    }
}
