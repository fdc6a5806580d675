//! Rules about files as such: programs, archives, disguises, links, secrets.

use crate::scan::category::Category;
use crate::scan::rule::{Rule, file, python, says};
use artel_model::catalog::Severity;

pub(in crate::scan) static PROGRAM: Rule = Rule {
    id: "compiled-program",
    severity: Severity::High,
    category: Category::OpaqueFile,
    title: "a compiled program",
    explanation: "What a compiled program does cannot be reviewed by reading the skill.",
    remediation: "Ship the source, or install the program with a package manager.",
    bad: &[file("bin/helper", b"\x7fELF\x02\x01\x01\0\0\0"), file("tool.exe", b"MZ\x90\0\x03\0\0\0")],
    good: &[file("assets/a.png", b"\x89PNG\r\n\x1a\n\0\0")],
};

pub(in crate::scan) static COMPILED: Rule = Rule {
    id: "compiled-script",
    severity: Severity::High,
    category: Category::OpaqueFile,
    title: "compiled code without its source",
    explanation: "An interpreter runs compiled code in place of the source that people read.",
    remediation: "Ship the source.",
    bad: &[file("scripts/run.pyc", b"\xa7\x0d\x0d\x0a\0\0\0\0\xe3\0\0\0")],
    good: &[python("print('hello')\n")],
};

pub(in crate::scan) static OPAQUE: Rule = Rule {
    id: "unknown-binary",
    severity: Severity::Low,
    category: Category::OpaqueFile,
    title: "a file that is neither text nor of a known kind",
    explanation: "Nobody can tell by reading it what it is for.",
    remediation: "Say in the instructions what the file is, or leave it out.",
    bad: &[file("assets/model.bin", b"\x01\x02\x03\0\x04\x05")],
    good: &[file("assets/a.csv", b"a,b\n1,2\n")],
};

pub(in crate::scan) static NOT_SCANNED: Rule = Rule {
    id: "folder-not-scanned",
    severity: Severity::Low,
    category: Category::OpaqueFile,
    title: "a folder that is no part of the skill",
    explanation: "Files in it are neither scanned nor part of the content hash, but scripts of the skill can read and run them.",
    remediation: "Remove the folder, or move what the skill needs out of it.",
    bad: &[],
    good: &[],
};

pub(in crate::scan) static DISGUISED: Rule = Rule {
    id: "disguised-file",
    severity: Severity::High,
    category: Category::OpaqueFile,
    title: "a file that is not what its name says",
    explanation: "A script or a program that is called a picture is meant to be overlooked.",
    remediation: "Give the file its right name, or remove it.",
    bad: &[file("assets/logo.png", b"#!/bin/sh\necho hello\n"), file("assets/a.jpg", b"\x7fELF\x02\x01")],
    good: &[file("assets/logo.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>\n")],
};

pub(in crate::scan) static LOCKED_ARCHIVE: Rule = Rule {
    id: "locked-archive",
    severity: Severity::High,
    category: Category::OpaqueFile,
    title: "an archive that is encrypted",
    explanation: "Nobody can review what is inside, and virus scanners cannot either.",
    remediation: "Ship the files openly.",
    bad: &[file("a.zip", LOCKED_ZIP)],
    good: &[file("a.zip", EMPTY_ZIP)],
};

/// A Zip file with one entry `a` whose flag says that it is encrypted.
const LOCKED_ZIP: &[u8] = b"PK\x03\x04\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0ax\
PK\x01\x02\x14\0\x14\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a\
PK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x20\0\0\0\0\0";

const EMPTY_ZIP: &[u8] = b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

pub(in crate::scan) static ARCHIVE_BOMB: Rule = Rule {
    id: "archive-bomb",
    severity: Severity::High,
    category: Category::ResourceAbuse,
    title: "an archive that unpacks to far more than its size",
    explanation: "Unpacking it fills the memory or the disk.",
    remediation: "Remove the archive.",
    bad: &[file("a.zip", BOMB_ZIP)],
    good: &[file("a.zip", EMPTY_ZIP)],
};

/// A Zip file whose only entry says that it has four gigabytes.
const BOMB_ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\x02\0\0\0\xff\xff\xff\xf0\x01\0\0\0a\x03\0\
PK\x01\x02\x14\0\x14\0\0\0\x08\0\0\0\0\0\0\0\0\0\x02\0\0\0\xff\xff\xff\xf0\x01\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0a\
PK\x05\x06\0\0\0\0\x01\0\x01\0\x2f\0\0\0\x21\0\0\0\0\0";

pub(in crate::scan) static MACRO: Rule = Rule {
    id: "office-macro",
    severity: Severity::Medium,
    category: Category::OpaqueFile,
    title: "a document with macros",
    explanation: "Macros run when the document is opened.",
    remediation: "Save the document without macros.",
    bad: &[file("a.docm", MACRO_ZIP)],
    good: &[file("a.docx", EMPTY_ZIP)],
};

/// A Zip file with one empty entry `vbaProject.bin`.
const MACRO_ZIP: &[u8] = b"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0vbaProject.bin\
PK\x01\x02\x14\0\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0vbaProject.bin\
PK\x05\x06\0\0\0\0\x01\0\x01\0\x3c\0\0\0\x2c\0\0\0\0\0";

pub(in crate::scan) static LINK_OUT: Rule = Rule {
    id: "link-leads-out",
    severity: Severity::High,
    category: Category::CredentialAccess,
    title: "a link that leads out of the skill",
    explanation: "An agent that opens the file opens something else on the machine.",
    remediation: "Copy the file into the skill.",
    bad: &[],
    good: &[],
};

pub(in crate::scan) static SECRET: Rule = Rule {
    id: "secret-in-file",
    severity: Severity::High,
    category: Category::LeakedSecret,
    title: "a secret in a file",
    explanation: "Everybody who gets the skill gets the secret.",
    remediation: "Revoke it, remove it from the files, and let users configure their own.",
    bad: &[
        python(concat!("key = 'sk_", "live_4eC39HqLyjWDarjtT1zdp7dcQm2'\n")),
        file("config.txt", concat!("token = gh", "p_x8Kq2LmN4vR7tYw1ZbC5dE9fG3hJ6kP0sUaQ\n").as_bytes()),
    ],
    good: &[
        python(concat!("key = 'sk_", "live_xxxxxxxxxxxxxxxxxxxxxxxx'\n")),
        says("The key looks like AKIAIOSFODNN7EXAMPLE.\n"),
    ],
};

pub(in crate::scan) static RULES: &[&Rule] = &[
    &PROGRAM,
    &COMPILED,
    &OPAQUE,
    &NOT_SCANNED,
    &DISGUISED,
    &LOCKED_ARCHIVE,
    &ARCHIVE_BOMB,
    &MACRO,
    &LINK_OUT,
    &SECRET,
];
