//! Scans one text: its characters, what it says, the code in it, and what is encoded in it.

use camino::Utf8Path;

use super::characters;
use super::code::{address_of, addresses, scan_javascript, scan_python, scan_shell};
use super::commands::{command_in, loose_commands};
use super::data_file::scan_json;
use super::encoded::{Decoded, decode_runs, is_text, unpack};
use super::file_kind::Language;
use super::limits::{DECODE_DEPTH_MAX, DECODED_BYTES_MAX, LOOSE_COMMANDS_MAX, MARKDOWN_PARTS_MAX};
use super::markdown::{Part, PartKind, parts};
use super::other_script;
use super::piece::{Piece, TextIntent};
use super::rules::{behaviour, files, hidden};
use super::secrets;
use super::session::Session;
use super::text::{Ground, Plain, floor, is_shown, search};
use artel_model::catalog::Severity;

/// Scans a text file.
pub(super) fn scan_text(session: &mut Session, path: &Utf8Path, bytes: &[u8], language: Language) {
    let text = decode_text(bytes);
    let piece = Piece::file(path, text.strip_prefix('\u{feff}').unwrap_or(&text));
    scan_piece(session, &piece, language);
}

/// Returns text as UTF-8; what is not is replaced, and everything else can still be read.
fn decode_text(bytes: &[u8]) -> String {
    let wide = |bytes: &[u8], of: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| of([pair[0], pair[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn scan_piece(session: &mut Session, piece: &Piece<'_>, language: Language) {
    for (line, text) in characters::check(piece, &mut session.collector) {
        let mut inner = piece.decoded(&text, line, "invisible characters");
        inner.intent = TextIntent::Hidden;
        said(session, &inner, Ground::Prose);
    }
    secrets::check(piece, &mut session.collector);
    check_addresses(session, piece);
    match language {
        Language::Markdown => scan_markdown(session, piece),
        Language::Shell => scan_code(session, piece, scan_shell),
        Language::Python => scan_code(session, piece, scan_python),
        Language::JavaScript => scan_code(session, piece, scan_javascript),
        Language::OtherScript => scan_code(session, piece, |session, piece| {
            other_script::check(session, piece);
            scan_loose(session, piece);
        }),
        Language::Data => {
            said(session, piece, if is_prose_file(piece.path) { Ground::Prose } else { Ground::Everything });
            let is_json = piece.path.extension() == Some("json") && scan_json(session, piece);
            if !is_json {
                scan_loose(session, piece);
                check_styles(session, piece);
            }
        }
    }
    scan_encoded(session, piece);
}

fn is_prose_file(path: &Utf8Path) -> bool {
    matches!(path.extension(), Some("txt" | "rst" | "adoc" | "html" | "htm" | "mdx") | None)
}

fn scan_code(session: &mut Session, piece: &Piece<'_>, scan: impl FnOnce(&mut Session, &Piece<'_>)) {
    scan(session, piece);
    said(session, piece, Ground::Everything);
}

/// Reports what a text says.
fn said(session: &mut Session, piece: &Piece<'_>, ground: Ground) {
    let plain = Plain::new(piece.text);
    for said in search(&plain, ground) {
        let line = piece.line_of_row(said.row);
        session.collector.report_as(
            piece,
            said.rule,
            said.severity,
            line,
            format!("it says: {}", said.words),
        );
    }
}

fn scan_markdown(session: &mut Session, piece: &Piece<'_>) {
    let parts = parts(piece.text);
    let prose = prose_of(piece.text, &parts);
    let prose = piece.part(&prose, 0, TextIntent::Meant);
    said(session, &prose, Ground::Prose);
    scan_loose(session, &prose);
    check_styles(session, &prose);
    if parts.len() > MARKDOWN_PARTS_MAX {
        session.collector.gap(Some(piece.path), "there are more blocks and comments than are looked at");
    }
    for part in parts.iter().take(MARKDOWN_PARTS_MAX) {
        scan_part(session, piece, part);
    }
}

/// Returns a text without its blocks of code and comments; its lines stay where they are.
fn prose_of(text: &str, parts: &[Part<'_>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for part in parts.iter().filter(|part| part.kind != PartKind::Inline) {
        let start = part.text.as_ptr() as usize - text.as_ptr() as usize;
        for byte in &mut bytes[start..start + part.text.len()] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

fn scan_part(session: &mut Session, piece: &Piece<'_>, part: &Part<'_>) {
    match &part.kind {
        PartKind::Comment => {
            let inner = piece.part(part.text, part.row, TextIntent::Hidden);
            check_comment(session, &inner);
            said(session, &inner, Ground::Prose);
            scan_loose(session, &inner);
        }
        PartKind::Inline => {
            if let Some(command) = command_in(part.text) {
                let intent = if is_shown(&part.above) { TextIntent::Shown } else { TextIntent::Meant };
                scan_shell(session, &piece.part(command, part.row, intent));
            }
        }
        PartKind::Block(word) => {
            let intent = if is_shown(&part.above) { TextIntent::Shown } else { TextIntent::Meant };
            let inner = piece.part(part.text, part.row, intent);
            scan_block(session, &inner, word);
        }
    }
}

fn scan_block(session: &mut Session, piece: &Piece<'_>, word: &str) {
    match word {
        "bash" | "sh" | "shell" | "zsh" | "fish" | "console" | "terminal" | "shellsession"
        | "shell-session" | "cmd-line" => {
            let script = without_prompts(piece.text);
            scan_shell(session, &Piece { text: &script, ..piece.clone() });
        }
        "python" | "py" | "python3" => scan_python(session, piece),
        "js" | "javascript" | "ts" | "typescript" | "jsx" | "tsx" | "node" | "mjs" => {
            scan_javascript(session, piece)
        }
        "powershell" | "ps1" | "bat" | "cmd" | "batch" | "applescript" | "ruby" | "perl" | "php" | "pwsh" => {
            other_script::check(session, piece);
        }
        _ => {
            scan_loose(session, piece);
            said(session, piece, Ground::Everything);
        }
    }
}

/// Takes the prompts off a transcript of a shell, and leaves out what it answered.
fn without_prompts(text: &str) -> String {
    let is_transcript = text.lines().any(|line| line.starts_with("$ "));
    let keep = |line: &str| match line.strip_prefix("$ ") {
        Some(command) => format!("{command}\n"),
        None if is_transcript => "\n".to_owned(),
        None => format!("{line}\n"),
    };
    text.lines().map(keep).collect()
}

/// Scans lines that are commands although the text is no script.
fn scan_loose(session: &mut Session, piece: &Piece<'_>) {
    let found = loose_commands(piece.text);
    if found.len() > LOOSE_COMMANDS_MAX {
        session.collector.gap(Some(piece.path), "there are more commands than are looked at");
    }
    for (row, line, command) in found.into_iter().take(LOOSE_COMMANDS_MAX) {
        let intent = if is_shown(line) { TextIntent::Shown } else { TextIntent::Meant };
        let rows = u32::try_from(row).unwrap_or(u32::MAX);
        scan_shell(session, &piece.part(command, rows, intent));
    }
}

const AGENTS: &[&str] = &[
    "agent",
    "assistant",
    " ai ",
    "ai:",
    "claude",
    "model",
    "llm",
    "copilot",
    "you must",
    "you should",
    "system:",
];
const DEEDS: &[&str] = &[
    "curl",
    "http",
    "send",
    "upload",
    "exfil",
    "ignore",
    "secret",
    "credential",
    "~/.",
    "api key",
    "token",
    "password",
    "override",
    "silently",
    "do not mention",
    "don't mention",
    "do not tell",
    "base64",
    "setup command",
    "without asking",
    "private key",
];

fn check_comment(session: &mut Session, piece: &Piece<'_>) {
    let text = format!(" {} ", piece.text.to_lowercase());
    let speaks = AGENTS.iter().any(|word| text.contains(word));
    let acts = DEEDS.iter().any(|word| text.contains(word));
    let runs = ["run ", "execute ", "read ", "fetch ", "download "].iter().any(|word| text.contains(word));
    let severity = match (speaks, acts) {
        (true, true) => Severity::High,
        (true, false) if runs => Severity::Low,
        _ => return,
    };
    let mut piece = piece.clone();
    piece.intent = TextIntent::Meant;
    let line = piece.line;
    session.collector.report_as(
        &piece,
        &hidden::HIDDEN_COMMENT,
        severity,
        line,
        "a comment speaks to agents",
    );
}

/// Styles of one kind in one text that are looked at.
const STYLES_MAX: usize = 200;
/// Bytes around a style that are looked at.
const STYLE_BYTES_MAX: usize = 2_000;

/// Reports text that a page would not show.
fn check_styles(session: &mut Session, piece: &Piece<'_>) {
    let lower = piece.text.to_ascii_lowercase();
    for style in [
        "display:none",
        "display: none",
        "font-size:0",
        "font-size: 0",
        "visibility:hidden",
        "color:white",
        "color:#fff",
        "opacity:0",
        "color: white",
    ] {
        for (at, _) in lower.match_indices(style).take(STYLES_MAX) {
            let window = floor(&lower, at.saturating_sub(STYLE_BYTES_MAX));
            let end = floor(&lower, (at + STYLE_BYTES_MAX).min(lower.len()));
            let before = lower[window..at].rfind('<').map_or("", |start| &lower[window + start..at]);
            let inside = lower[at..end].split_once('>').map_or("", |(_, rest)| rest);
            let inside = inside.split('<').next().unwrap_or_default();
            let is_inline = before.contains("style=") && !before.contains('>');
            let speaks = AGENTS
                .iter()
                .chain(&["always", "must", "ignore", "run ", "send"])
                .any(|word| inside.contains(word));
            if is_inline && speaks && inside.split_whitespace().count() >= 4 {
                let line = piece.line_at(at);
                session.collector.report(piece, &hidden::HIDDEN_STYLE, line, "text is made invisible");
            }
        }
    }
}

/// Addresses of one text that are reported.
const ADDRESSES_MAX: usize = 50;

fn check_addresses(session: &mut Session, piece: &Piece<'_>) {
    let found = addresses(piece.text).into_iter();
    let odd = found.filter(|(_, url)| url.starts_with("http") && address_of(url).is_anonymous());
    for (at, url) in odd.take(ADDRESSES_MAX) {
        let line = piece.line_at(at);
        session.collector.report(piece, &behaviour::DROP_ADDRESS, line, format!("the address {url}"));
    }
}

fn scan_encoded(session: &mut Session, piece: &Piece<'_>) {
    let found = decode_runs(piece.text);
    if found.is_cut {
        session.collector.gap(Some(piece.path), "there is more encoded text than is looked at");
    }
    for run in found.runs {
        scan_decoded(session, piece, run);
    }
}

fn scan_decoded(session: &mut Session, piece: &Piece<'_>, run: Decoded) {
    let line = piece.line_at(run.offset);
    if piece.decoded.len() >= DECODE_DEPTH_MAX {
        return session.collector.gap(Some(piece.path), "encoded text is nested too deep");
    }
    if !session.may_decode(run.bytes.len()) {
        return session.collector.gap(Some(piece.path), "there is more encoded text than is looked at");
    }
    let (bytes, how) = match unpack(&run.bytes, DECODED_BYTES_MAX) {
        Ok(Some(bytes)) => (bytes, "gzip"),
        Ok(None) => (run.bytes, run.how),
        Err(_) => {
            return session.collector.gap(Some(piece.path), "encoded text unpacks to more than is looked at");
        }
    };
    if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"MZ\x90") {
        return session.collector.report_as(
            piece,
            &files::PROGRAM,
            Severity::Critical,
            line,
            format!("a program in {how}"),
        );
    }
    if !is_text(&bytes) {
        return;
    }
    let text = String::from_utf8_lossy(&bytes);
    let inner = piece.decoded(&text, line, how);
    judge_decoded(session, &inner);
    said(session, &inner, Ground::Prose);
    scan_encoded(session, &inner);
}

/// Reports that decoded text is a command, code or an address, and scans it as such.
fn judge_decoded(session: &mut Session, inner: &Piece<'_>) {
    let text = inner.text.trim();
    let is_python = ["import ", "exec(", "subprocess", "__import__"].iter().any(|word| text.contains(word))
        && text.contains(['(', '\n']);
    let is_command = text.lines().any(|line| command_in(line).is_some()) || text.starts_with("#!/");
    let is_address = text.starts_with("http://") || text.starts_with("https://");
    if is_python {
        scan_python(session, inner);
    } else if is_command {
        scan_shell(session, inner);
    }
    if is_python || is_command {
        session.collector.report(inner, &hidden::ENCODED, inner.line, "the encoded text is code");
    } else if is_address {
        let severity = if address_of(text).is_anonymous() { Severity::High } else { Severity::Medium };
        session.collector.report_as(
            inner,
            &hidden::ENCODED,
            severity,
            inner.line,
            "the encoded text is an address",
        );
    }
}
