//! The chat: commands are answered at once, everything else is asked for in words with the skills that the supervisor offers
//! to the caller.

use artel_api::chat::{ChatEvent, ChatRequest, ChatSkill};
use artel_api::plans::AskRequest;
use artel_catalog::shared::ListQuery;
use artel_model::access::{Principal, Scope};
use artel_model::limit::CHAT_MESSAGE_CHARS_MAX;
use uuid::Uuid;

use super::ask::ask_with;
use super::chat_stream::ChatStream;
use super::skills::served;
use crate::app::App;
use crate::assistant::converse;
use crate::error::OperationError;

const NO_SKILLS: &str = "No skills available at the moment.";
const UNAVAILABLE: &str = "Skills are temporarily unavailable. Please try again later.";
const CLEARED: &str = "This is another conversation.";
const HELP: &str = "Say what you want in your own words: a plan is made of it and run with your skills.\n\
    /skills lists the skills that you can use\n\
    /skills WORDS searches them\n\
    /clear begins another conversation\n\
    /help shows this";

/// What a message means.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Command {
    /// To list skills, or those that match some words.
    Skills(Option<String>),
    /// To say what can be said.
    Help,
    /// To begin another conversation.
    Clear,
    /// To do what it says.
    Ask,
}

impl Command {
    /// Reads a message without spaces around it. Words that only look like a command are words.
    fn of(message: &str) -> Self {
        let (word, rest) = message.split_once(char::is_whitespace).unwrap_or((message, ""));
        match (word.to_ascii_lowercase().as_str(), rest.trim()) {
            ("/skills", "") => Self::Skills(None),
            ("/skills", words) => Self::Skills(Some(words.to_owned())),
            ("/help", "") => Self::Help,
            ("/clear", "") => Self::Clear,
            _ => Self::Ask,
        }
    }
}

/// Answers a message to the chat.
pub async fn chat(app: &App, caller: &Principal, request: ChatRequest) -> Result<ChatStream, OperationError> {
    let message = read(&request)?;
    let conversation = request.conversation_id.unwrap_or_else(Uuid::now_v7);
    let said = match Command::of(message) {
        Command::Ask => return begin(app, caller, message, conversation),
        Command::Skills(words) => list(app, caller, words).await,
        Command::Help => vec![text(HELP)],
        Command::Clear => {
            app.conversations().forget(&caller.viewer.user, conversation);
            let done =
                ChatEvent::Done { conversation_id: Uuid::now_v7(), run_id: None, ok: true, clear: true };
            return Ok(ChatStream::said(vec![text(CLEARED), done]));
        }
    };
    Ok(answered(conversation, said))
}

fn read(request: &ChatRequest) -> Result<&str, OperationError> {
    let message = request.message.trim();
    if message.is_empty() {
        return Err(OperationError::unprocessable("invalid_body", "`message` says what is wanted, in words"));
    }
    if request.message.chars().count() > CHAT_MESSAGE_CHARS_MAX {
        let why = format!("`message` has at most {CHAT_MESSAGE_CHARS_MAX} characters");
        return Err(OperationError::unprocessable("invalid_body", why));
    }
    Ok(message)
}

/// Asks for what the message says. Who is offered nothing gets nothing done: never are all skills taken instead.
fn begin(
    app: &App,
    caller: &Principal,
    message: &str,
    conversation: Uuid,
) -> Result<ChatStream, OperationError> {
    let Some(view) = app.catalogs().supervisor_view(&caller.viewer) else {
        return Ok(answered(conversation, vec![failed("skills_unavailable", UNAVAILABLE)]));
    };
    if view.is_empty() {
        return Ok(answered(conversation, vec![text(NO_SKILLS)]));
    }
    if let Some(assistant) = app.assistant() {
        let events = converse(app, caller, assistant, view, conversation, message);
        return Ok(ChatStream::talk(events));
    }
    // Heard before the request is known, so that nothing that happens to it is missed.
    let changes = app.asks().changes();
    let wish = AskRequest { request: message.to_owned(), timeout_ms: None, planner: None };
    let asked = ask_with(app, caller, wish, |name| view.by_name(name).is_some())?;
    Ok(ChatStream::asked(app.clone(), caller.clone(), conversation, asked.ask_id, changes))
}

/// Lists what `GET /api/skills` lists.
async fn list(app: &App, caller: &Principal, words: Option<String>) -> Vec<ChatEvent> {
    if !caller.may(Scope::CatalogRead) {
        let message = format!("This needs the scope `{}`.", Scope::CatalogRead);
        return vec![failed("forbidden", &message)];
    }
    let Ok((_, view)) = served(app, caller) else { return vec![failed("skills_unavailable", UNAVAILABLE)] };
    let query = words.clone();
    let listed = tokio::task::spawn_blocking(move || {
        let listing = view.list(&ListQuery { words: query, ..ListQuery::default() });
        let skills: Vec<ChatSkill> = listing.items.iter().map(|item| chat_skill(item.entry)).collect();
        (skills, listing.total)
    });
    let Ok((skills, total)) = listed.await else { return vec![failed("skills_unavailable", UNAVAILABLE)] };
    let said = match (&words, skills.len()) {
        (None, 0) => text(NO_SKILLS),
        (Some(words), 0) => text(&format!("No skills match `{words}`.")),
        (_, shown) => text(&format!("Showing {shown} of {total}.")),
    };
    vec![said, ChatEvent::Skills { query: words, shown: skills.len(), total, skills }]
}

fn chat_skill(entry: &artel_catalog::shared::Entry) -> ChatSkill {
    ChatSkill {
        id: entry.id.to_string(),
        name: entry.name.to_string(),
        description: entry.description.clone(),
        label: entry.source().label().to_owned(),
    }
}

/// What is said without a run, and that this was all.
fn answered(conversation: Uuid, mut said: Vec<ChatEvent>) -> ChatStream {
    let ok = !said.iter().any(|event| matches!(event, ChatEvent::Error { .. }));
    said.push(ChatEvent::Done { conversation_id: conversation, run_id: None, ok, clear: false });
    ChatStream::said(said)
}

fn text(text: &str) -> ChatEvent {
    ChatEvent::Text { text: text.to_owned() }
}

fn failed(code: &str, message: &str) -> ChatEvent {
    ChatEvent::Error { code: code.to_owned(), message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_exact_and_everything_else_is_words() {
        let check =
            |message: &str, expected: Command| assert_eq!(Command::of(message), expected, "{message}");
        check("/skills", Command::Skills(None));
        check("/SKILLS", Command::Skills(None));
        check("/Skills \t Weather  in Rome", Command::Skills(Some("Weather  in Rome".to_owned())));
        check("/help", Command::Help);
        check("/Clear", Command::Clear);
        for words in ["/skillset", "skills", "show /skills", "/help me", "/clear all", "/weather", "//skills"]
        {
            check(words, Command::Ask);
        }
    }
}
