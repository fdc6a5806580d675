//! What is kept of a model's work, and how the work goes on from that after an interruption. Pure.

use artel_engine::llm::{Arguments, Reply, ToolResult, Turn};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Who says what the model says.
pub(super) const MODEL: &str = "model";
/// Who says what came of a call.
pub(super) const TOOL: &str = "tool";
/// Who tells a model that its answer cannot be used.
pub(super) const ARTEL: &str = "artel";

/// What a model said, kept before it is acted on.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ModelSaid {
    pub(super) reply: Reply,
    /// Tokens that this took; estimated when the endpoint does not say.
    pub(super) tokens: u64,
}

/// What came of a call, kept before the model hears of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ToolSaid {
    pub(super) tool: String,
    pub(super) result: ToolResult,
}

/// What a model was told beside its task.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct ArtelSaid {
    pub(super) text: String,
}

/// Work up to where it was interrupted.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Replayed {
    /// What was said and dealt with.
    pub(super) turns: Vec<Turn>,
    /// What the model said last, when that is not dealt with, and what came of its calls so far.
    pub(super) open: Option<(Reply, Vec<ToolResult>)>,
    /// Answers of the model.
    pub(super) asked: u32,
    /// Tokens that they took.
    pub(super) tokens: u64,
    /// Corrections that it was asked for.
    pub(super) corrections: u32,
}

/// Makes a conversation of what was kept. What is not understood was not said in it.
pub(super) fn replay(said: &[(String, Value)]) -> Replayed {
    let mut replayed = Replayed::default();
    for (by, what) in said {
        match by.as_str() {
            MODEL => {
                let Some(ModelSaid { reply, tokens }) = read(what) else { continue };
                replayed.close();
                replayed.asked += 1;
                replayed.tokens = replayed.tokens.saturating_add(tokens);
                replayed.open = Some((reply, Vec::new()));
            }
            TOOL => {
                let Some(ToolSaid { result, .. }) = read(what) else { continue };
                if let Some((_, results)) = &mut replayed.open {
                    results.push(result);
                }
            }
            ARTEL => {
                let Some(ArtelSaid { text }) = read(what) else { continue };
                replayed.close();
                replayed.corrections += 1;
                replayed.turns.push(Turn::User(text));
            }
            _ => {}
        }
    }
    replayed
}

impl Replayed {
    /// What the model said was dealt with, because something came after it.
    fn close(&mut self) {
        let Some((reply, mut results)) = self.open.take() else { return };
        let missing = reply.calls.iter().filter(|call| results.iter().all(|result| result.id != call.id));
        let missing: Vec<ToolResult> = missing.map(|call| interrupted(&call.id, Begun::Perhaps)).collect();
        results.extend(missing);
        self.turns.push(Turn::Model(reply));
        if !results.is_empty() {
            self.turns.push(Turn::Tools(results));
        }
    }
}

/// Whether a call had been begun when the work was interrupted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Begun {
    Perhaps,
    No,
}

/// Returns what a model hears about a call that was interrupted.
pub(super) fn interrupted(id: &str, begun: Begun) -> ToolResult {
    let message = match begun {
        Begun::Perhaps => {
            "the work was interrupted during this call; what it did is not known, and it is not repeated"
        }
        Begun::No => "the work was interrupted before this call was made",
    };
    error(id, "INTERRUPTED", message)
}

/// Returns what a model hears about a call that came to nothing.
pub(super) fn error(id: &str, code: &str, message: &str) -> ToolResult {
    let content = json!({"code": code, "message": message}).to_string();
    ToolResult { id: id.to_owned(), content, is_error: true }
}

/// Returns about how many tokens a conversation has when nobody counted them: four bytes each.
pub(super) fn estimated_tokens(system: &str, turns: &[Turn]) -> u64 {
    let of_reply = |reply: &Reply| {
        let calls = reply.calls.iter().map(|call| match &call.arguments {
            Arguments::Object(object) => json!(object).to_string().len(),
            Arguments::Unreadable { text, .. } => text.len(),
        });
        reply.text.len() + calls.sum::<usize>()
    };
    let of_turn = |turn: &Turn| match turn {
        Turn::User(text) => text.len(),
        Turn::Model(reply) => of_reply(reply),
        Turn::Tools(results) => results.iter().map(|result| result.content.len()).sum(),
    };
    let bytes = system.len() + turns.iter().map(of_turn).sum::<usize>();
    u64::try_from(bytes / 4 + 1).unwrap_or(u64::MAX)
}

fn read<T: serde::de::DeserializeOwned>(what: &Value) -> Option<T> {
    T::deserialize(what).ok()
}

#[cfg(test)]
mod tests {
    use artel_engine::llm::{StopReason, ToolCallRequest};
    use serde_json::Map;

    use super::*;

    fn reply(text: &str, calls: &[&str]) -> Reply {
        let call = |id: &&str| ToolCallRequest {
            id: (*id).to_owned(),
            name: "walk".to_owned(),
            arguments: Arguments::Object(Map::new()),
        };
        Reply {
            text: text.to_owned(),
            calls: calls.iter().map(call).collect(),
            stop: StopReason::Finished,
            usage: None,
            thoughts: Vec::new(),
        }
    }

    fn model(reply: &Reply) -> (String, Value) {
        (MODEL.to_owned(), json!(ModelSaid { reply: reply.clone(), tokens: 5 }))
    }

    fn result(id: &str) -> ToolResult {
        ToolResult { id: id.to_owned(), content: "ok".to_owned(), is_error: false }
    }

    fn tool(id: &str) -> (String, Value) {
        (TOOL.to_owned(), json!(ToolSaid { tool: "walk".to_owned(), result: result(id) }))
    }

    #[test]
    fn work_goes_on_where_it_was() {
        assert_eq!(replay(&[]), Replayed::default());
        let (first, second) = (reply("", &["a", "b"]), reply("", &["c", "d"]));
        let said = [model(&first), tool("a"), tool("b"), model(&second), tool("c")];
        let replayed = replay(&said);
        assert_eq!((replayed.asked, replayed.tokens, replayed.corrections), (2, 10, 0));
        assert_eq!(replayed.turns, [Turn::Model(first), Turn::Tools(vec![result("a"), result("b")])]);
        assert_eq!(replayed.open, Some((second, vec![result("c")])));
    }

    #[test]
    fn corrections_are_part_of_the_work() {
        let (bad, good) = (reply("Three.", &[]), reply("{}", &[]));
        let told = (ARTEL.to_owned(), json!({"text": "Again."}));
        let replayed = replay(&[model(&bad), told, model(&good)]);
        assert_eq!(replayed.turns, [Turn::Model(bad), Turn::User("Again.".to_owned())]);
        assert_eq!((replayed.open, replayed.corrections), (Some((good, Vec::new())), 1));
    }

    #[test]
    fn a_result_that_was_not_kept_is_told_as_interrupted() {
        let first = reply("", &["a", "b"]);
        let replayed = replay(&[model(&first), tool("a"), model(&reply("Done.", &[]))]);
        let results = vec![result("a"), interrupted("b", Begun::Perhaps)];
        assert_eq!(replayed.turns, [Turn::Model(first), Turn::Tools(results)]);
    }

    #[test]
    fn what_is_not_understood_was_not_said() {
        let odd = |by: &str| (by.to_owned(), json!({"odd": true}));
        assert_eq!(
            replay(&[odd("stdout"), odd(MODEL), odd(TOOL), odd(ARTEL), tool("a")]),
            Replayed::default()
        );
    }

    #[test]
    fn tokens_are_estimated_by_bytes() {
        let turns = [Turn::User("12345678".to_owned()), Turn::Tools(vec![result("a")])];
        assert_eq!(estimated_tokens("12", &turns), 4);
    }
}
