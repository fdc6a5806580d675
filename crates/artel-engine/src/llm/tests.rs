//! Conversations with tools, against an endpoint that speaks both protocols.

use std::time::Duration;

use artel_model::agent::Thinking;
use insta::assert_snapshot;
use serde_json::{Map, Value, json};

use super::server::{Reply as Answer, Server};
use super::{
    ApiKey, Arguments, Conversation, LlmClient, LlmConfig, LlmError, LlmProtocol, Reply, StopReason,
    ToolCallRequest, ToolResult, ToolSpec, Turn, Usage,
};

const KEY: &str = "sk-very-secret";

fn client(protocol: LlmProtocol, url: &str) -> LlmClient {
    let api_key = Some(ApiKey::new(KEY));
    let config = LlmConfig { base_url: url.to_owned(), api_key, ..LlmConfig::new(protocol, "usual") };
    LlmClient::new(config).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else { panic!("an object") };
    object
}

/// A model that called two tools, of which one was refused, and is asked again.
fn conversation() -> Conversation {
    let call = |id: &str, arguments: Arguments| ToolCallRequest {
        id: id.to_owned(),
        name: "navigate__run".to_owned(),
        arguments,
    };
    let result = |id: &str, content: &str, is_error: bool| ToolResult {
        id: id.to_owned(),
        content: content.to_owned(),
        is_error,
    };
    let wrong = Arguments::Unreadable { text: "{\"to\":".to_owned(), why: "cut".to_owned() };
    let reply = Reply {
        text: String::new(),
        calls: vec![call("one", Arguments::Object(object(json!({"to": "kitchen"})))), call("two", wrong)],
        stop: StopReason::ToolCalls,
        usage: None,
        thoughts: vec![json!({"type": "thinking", "thinking": "hm", "signature": "s"})],
    };
    let results = vec![result("one", "{\"ok\":true}", false), result("two", "cut", true)];
    Conversation {
        model: None,
        system: "You work.".to_owned(),
        turns: vec![
            Turn::User("Fetch the cup.".to_owned()),
            Turn::Model(reply),
            Turn::Tools(results),
            Turn::User("Go on.".to_owned()),
        ],
        tools: vec![ToolSpec {
            name: "navigate__run".to_owned(),
            description: "Goes somewhere.".to_owned(),
            parameters: json!({"type": "object", "properties": {"to": {"type": "string"}}}),
        }],
        thinking: Some(Thinking::Low),
    }
}

async fn converse(protocol: LlmProtocol, answer: Answer) -> (Result<Reply, LlmError>, Value) {
    let server = Server::start([answer]).await;
    let reply = client(protocol, &server.url).converse(&conversation()).await;
    (reply, server.seen()[0].body.clone())
}

async fn answered(protocol: LlmProtocol, body: Value) -> Reply {
    converse(protocol, Answer::Body(200, body.to_string())).await.0.unwrap()
}

#[tokio::test]
async fn openai_is_told_what_was_called_and_what_came_of_it() {
    let (_, body) = converse(LlmProtocol::OpenAi, Answer::Body(200, "{}".to_owned())).await;
    assert_snapshot!(format!("{:#}", json!(body)));
}

#[tokio::test]
async fn anthropic_is_told_what_was_called_and_what_came_of_it() {
    let (_, body) = converse(LlmProtocol::Anthropic, Answer::Body(200, "{}".to_owned())).await;
    assert_snapshot!(format!("{:#}", json!(body)));
}

#[tokio::test]
async fn a_conversation_may_name_a_model_and_have_no_tools() {
    let usual = Conversation { tools: Vec::new(), thinking: None, ..conversation() };
    let bare = Conversation { model: Some("other".to_owned()), ..usual };
    for (protocol, thinking) in
        [(LlmProtocol::OpenAi, "reasoning_effort"), (LlmProtocol::Anthropic, "thinking")]
    {
        let server = Server::start([Answer::Body(200, "{}".to_owned())]).await;
        let _ = client(protocol, &server.url).converse(&bare).await;
        let body = &server.seen()[0].body;
        assert_eq!(body["model"], "other");
        assert_eq!((body.get("tools"), body.get(thinking)), (None, None));
    }
}

#[tokio::test]
async fn calls_are_read_from_both_protocols() {
    let call = |id: &str, name: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls = [
        call("a", "navigate__run", json!("{\"to\": \"kitchen\"}")),
        call("", "grasp__run", json!({"what": "cup"})),
        call("a", "grasp__run", json!("{\"what\"")),
    ];
    let message = json!({"role": "assistant", "content": null, "tool_calls": calls});
    let openai = answered(
        LlmProtocol::OpenAi,
        json!({
            "choices": [{"message": message, "finish_reason": "tool_calls"}],
            "usage": {"prompt_tokens": 12, "completion_tokens": 3},
        }),
    )
    .await;
    assert_snapshot!(format!("{:#}", json!(openai)));
    let anthropic = answered(
        LlmProtocol::Anthropic,
        json!({
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Going."},
                {"type": "tool_use", "id": "toolu_1", "name": "navigate__run", "input": {"to": "kitchen"}},
                {"type": "tool_use", "id": "toolu_2", "name": "grasp__run", "input": {}},
            ],
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 10, "cache_read_input_tokens": 2, "output_tokens": 3},
        }),
    )
    .await;
    assert_snapshot!(format!("{:#}", json!(anthropic)));
}

#[tokio::test]
async fn a_reply_says_why_it_ends() {
    let openai = |reason: &str| {
        let message = json!({"role": "assistant", "content": "So."});
        json!({"choices": [{"message": message, "finish_reason": reason}]})
    };
    let anthropic =
        |reason: &str| json!({"content": [{"type": "text", "text": "So."}], "stop_reason": reason});
    let refused =
        json!({"choices": [{"message": {"content": null, "refusal": "No."}, "finish_reason": "stop"}]});
    for (protocol, body, stop) in [
        (LlmProtocol::OpenAi, openai("stop"), StopReason::Finished),
        (LlmProtocol::OpenAi, openai("length"), StopReason::Length),
        (LlmProtocol::OpenAi, openai("content_filter"), StopReason::Refused),
        (LlmProtocol::OpenAi, openai("odd"), StopReason::Other("odd".to_owned())),
        (LlmProtocol::OpenAi, refused, StopReason::Refused),
        (LlmProtocol::Anthropic, anthropic("end_turn"), StopReason::Finished),
        (LlmProtocol::Anthropic, anthropic("max_tokens"), StopReason::Length),
        (LlmProtocol::Anthropic, anthropic("refusal"), StopReason::Refused),
        (LlmProtocol::Anthropic, anthropic("pause_turn"), StopReason::Other("pause_turn".to_owned())),
    ] {
        let reply = answered(protocol, body).await;
        assert_eq!((reply.stop, reply.usage), (stop, None));
        assert!(!reply.text.is_empty());
    }
}

#[tokio::test]
async fn what_is_no_reply_is_told() {
    let error = async |protocol, body: &str| {
        converse(protocol, Answer::Body(200, body.to_owned())).await.0.unwrap_err().to_string()
    };
    assert_snapshot!(error(LlmProtocol::OpenAi, "{\"choices\": []}").await, @"its answer is not what the protocol promises: it has no `choices`");
    assert_snapshot!(error(LlmProtocol::OpenAi, "{\"choices\": [1]}").await, @"its answer is not what the protocol promises: it has no `message`");
    assert_snapshot!(error(LlmProtocol::Anthropic, "{}").await, @"its answer is not what the protocol promises: it has no `content`");
}

#[tokio::test]
async fn some_errors_pass_and_say_when() {
    let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
    for (header, status, passes, after) in [
        ("retry-after: 7", 429, true, seconds(7.0)),
        ("retry-after-ms: 1500", 429, true, seconds(1.5)),
        ("retry-after: Wed, 21 Oct 2026 07:28:00 GMT", 503, true, None),
        ("retry-after: -1", 529, true, None),
        ("x: y", 401, false, None),
        ("x: y", 400, false, None),
    ] {
        let error =
            converse(LlmProtocol::OpenAi, Answer::Header(status, header.to_owned())).await.0.unwrap_err();
        assert_eq!(error.is_passing(), passes, "{header}");
        let LlmError::Refused { retry_after, .. } = error else { panic!("{error}") };
        assert_eq!(retry_after, after, "{header}");
    }
    for answer in [Answer::HangUp, Answer::BreakOff] {
        assert!(converse(LlmProtocol::OpenAi, answer).await.0.unwrap_err().is_passing());
    }
}

#[tokio::test]
async fn a_reply_does_not_hold_the_key() {
    let message = json!({"content": format!("My key is {KEY}.")});
    let reply = answered(LlmProtocol::OpenAi, json!({"choices": [{"message": message}]})).await;
    assert_eq!(reply.text, "My key is ***.");
    let shown = format!("{:?}", client(LlmProtocol::OpenAi, "http://localhost"));
    assert!(!shown.contains(KEY), "{shown}");
}

#[test]
fn usage_adds_up() {
    assert_eq!(Usage { input_tokens: 2, output_tokens: 3 }.total(), 5);
    assert_eq!(Usage { input_tokens: u64::MAX, output_tokens: 3 }.total(), u64::MAX);
}
