//! How messages are written into streams and read again. What is read is not trusted.

use artel_model::id::CorrelationId;
use artel_model::message::Message;
use redis::{Cmd, FromRedisValue, Pipeline, Value};

use super::position::Survey;
use crate::limit::REPLY_STREAM_LEN_MAX;

const MESSAGE: &str = "m";
const REPLY_TO: &str = "r";
const HEARD: &str = "h";
/// How long the answers to a bus that ended stay, in milliseconds.
const REPLIES_MS: u64 = 3_600_000;

/// Answers a request if somebody still waits for it, once.
const ANSWER: &str = "\
local to = redis.call('GET', KEYS[1])
if not to then return 0 end
redis.call('DEL', KEYS[1])
redis.call('XADD', to, 'MAXLEN', '~', ARGV[1], '*', 'm', ARGV[2])
redis.call('PEXPIRE', to, ARGV[3])
return 1";

/// What an entry of a stream says.
#[derive(Debug, PartialEq)]
pub(super) enum Entry {
    /// A message, and where its answer goes.
    Message { message: Message, reply_to: Option<String> },
    /// Somebody took a request.
    Heard(CorrelationId),
}

/// The entries of some streams as Redis gives them: the key, the ids, the fields one after the other.
pub(super) type Streams = Option<Vec<(String, Vec<RawEntry>)>>;
/// One entry as Redis gives it.
pub(super) type RawEntry = (String, Vec<Vec<u8>>);

pub(super) fn encode(message: &Message) -> Vec<u8> {
    serde_json::to_vec(message).expect("a message is JSON")
}

/// Reads an entry; nothing when it is none of ours.
pub(super) fn decode(fields: &[Vec<u8>]) -> Option<Entry> {
    let (pairs, _) = fields.as_chunks::<2>();
    let field = |name: &str| pairs.iter().find(|[key, _]| key == name.as_bytes()).map(|[_, value]| value);
    if let Some(message) = field(MESSAGE) {
        let message = serde_json::from_slice(message).ok()?;
        let reply_to = field(REPLY_TO).and_then(|key| String::from_utf8(key.clone()).ok());
        return Some(Entry::Message { message, reply_to });
    }
    let correlation = std::str::from_utf8(field(HEARD)?).ok()?;
    correlation.parse().ok().map(Entry::Heard)
}

/// Returns the command that adds a message to the stream of all topics.
pub(super) fn add(key: &str, len: usize, message: &[u8]) -> Cmd {
    let mut command = redis::cmd("XADD");
    command.arg(key).arg("MAXLEN").arg("~").arg(len).arg("*").arg(MESSAGE).arg(message);
    command
}

/// Returns the commands that add a request, and say where its answer goes as long as somebody waits.
pub(super) fn ask(mut add: Cmd, wait_key: &str, reply_to: &str, wait_ms: u64) -> Pipeline {
    add.arg(REPLY_TO).arg(reply_to);
    let mut commands = redis::pipe();
    commands.atomic().cmd("SET").arg(wait_key).arg(reply_to).arg("PX").arg(wait_ms).ignore();
    commands.add_command(add).ignore();
    commands
}

/// Returns the command that answers a request; it says 1 when somebody waited.
pub(super) fn answer(wait_key: &str, message: &[u8]) -> Cmd {
    let mut command = redis::cmd("EVAL");
    command.arg(ANSWER).arg(1).arg(wait_key).arg(REPLY_STREAM_LEN_MAX).arg(message).arg(REPLIES_MS);
    command
}

/// Adds the commands that say that a request was taken.
pub(super) fn tell_heard(commands: &mut Pipeline, reply_to: &str, correlation: CorrelationId) {
    let len = REPLY_STREAM_LEN_MAX;
    let add = commands.cmd("XADD").arg(reply_to).arg("MAXLEN").arg("~").arg(len).arg("*");
    add.arg(HEARD).arg(correlation.to_string()).ignore();
    commands.cmd("PEXPIRE").arg(reply_to).arg(REPLIES_MS).ignore();
}

/// Reads what Redis says of a stream; nothing when it makes no sense.
pub(super) fn survey(reply: Value) -> Option<Survey> {
    let fields = reply.into_map_iter().ok()?;
    let (mut last, mut added, mut kept) = (None, None, None);
    for (name, value) in fields {
        match String::from_redis_value(name).ok()?.as_str() {
            "last-generated-id" => last = String::from_redis_value(value).ok()?.parse().ok(),
            "entries-added" => added = u64::from_redis_value(value).ok(),
            "length" => kept = u64::from_redis_value(value).ok(),
            _ => {}
        }
    }
    let kept = kept?;
    // Redis before version 7 does not say how many there were; then trimming cannot be noticed.
    Some(Survey::There { last: last?, added: added.unwrap_or(kept), kept })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::event;

    fn fields(fields: &[&[u8]]) -> Vec<Vec<u8>> {
        fields.iter().map(|field| field.to_vec()).collect()
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        let message = event(1, "a.b");
        let expected = Entry::Message { message: (*message).clone(), reply_to: Some("k".to_owned()) };
        assert_eq!(decode(&fields(&[b"m", &encode(&message), b"r", b"k"])), Some(expected));
    }

    #[test]
    fn what_is_no_message_is_none() {
        for bad in [&fields(&[b"m", b"{}"]), &fields(&[b"m"]), &fields(&[]), &fields(&[b"h", b"\xff"])] {
            assert_eq!(decode(bad), None);
        }
    }
}
