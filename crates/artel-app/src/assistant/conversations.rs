//! What was said before, as long as the server runs: a conversation belongs to one user, and the longest unused goes first.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use artel_engine::llm::{Arguments, Turn};
use artel_model::access::UserId;
use artel_model::limit::{
    CHAT_CONVERSATION_BYTES_MAX, CHAT_CONVERSATIONS_MAX, CHAT_CONVERSATIONS_PER_USER_MAX,
};
use uuid::Uuid;

/// Whose conversation it is, and which.
type Which = (UserId, Uuid);

/// Conversations that go on.
#[derive(Default)]
pub struct Conversations(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    /// Counts uses, to know which was longest unused.
    uses: u64,
    all: BTreeMap<Which, Remembered>,
}

struct Remembered {
    used: u64,
    turns: Vec<Turn>,
}

impl Conversations {
    /// Returns what was said so far; nothing when it is not known, or another's.
    pub(super) fn recall(&self, user: &UserId, id: Uuid) -> Vec<Turn> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.all.get(&(user.clone(), id)).map(|remembered| remembered.turns.clone()).unwrap_or_default()
    }

    /// Remembers what was said. The oldest exchanges go when there is no room for them.
    pub(super) fn remember(&self, user: &UserId, id: Uuid, mut turns: Vec<Turn>) {
        forget_oldest(&mut turns);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses += 1;
        let used = kept.uses;
        kept.all.insert((user.clone(), id), Remembered { used, turns });
        kept.make_room(Some(user), CHAT_CONVERSATIONS_PER_USER_MAX);
        kept.make_room(None, CHAT_CONVERSATIONS_MAX);
    }

    /// Forgets a conversation.
    pub fn forget(&self, user: &UserId, id: Uuid) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).all.remove(&(user.clone(), id));
    }
}

impl Kept {
    /// Forgets the longest unused of a user, or of all, when there are too many.
    fn make_room(&mut self, of: Option<&UserId>, most: usize) {
        let mut uses: Vec<(u64, Which)> = self
            .all
            .iter()
            .filter(|((user, _), _)| of.is_none_or(|of| user == of))
            .map(|(which, remembered)| (remembered.used, which.clone()))
            .collect();
        uses.sort_unstable();
        let too_many = uses.len().saturating_sub(most);
        for (_, which) in &uses[..too_many] {
            self.all.remove(which);
        }
    }
}

/// Drops whole exchanges from the beginning: an answer of a tool without its call would mean nothing to a model.
fn forget_oldest(turns: &mut Vec<Turn>) {
    while turns.iter().map(size).sum::<usize>() > CHAT_CONVERSATION_BYTES_MAX {
        let is_question = |turn: &Turn| matches!(turn, Turn::User(_));
        let next = turns.iter().skip(1).position(is_question).map_or(turns.len(), |place| place + 1);
        turns.drain(..next);
    }
}

/// Returns about how many bytes something takes that was said.
fn size(turn: &Turn) -> usize {
    match turn {
        Turn::User(text) => text.len(),
        Turn::Model(reply) => {
            let call = |arguments: &Arguments| match arguments {
                Arguments::Object(object) => {
                    object.iter().map(|(name, value)| name.len() + value.to_string().len()).sum()
                }
                Arguments::Unreadable { text, .. } => text.len(),
            };
            let calls: usize = reply.calls.iter().map(|wish| wish.name.len() + call(&wish.arguments)).sum();
            let thoughts: usize = reply.thoughts.iter().map(|thought| thought.to_string().len()).sum();
            reply.text.len() + calls + thoughts
        }
        Turn::Tools(results) => results.iter().map(|result| result.content.len()).sum(),
    }
}

#[cfg(test)]
mod tests {
    use artel_engine::llm::{Reply, StopReason};

    use super::*;

    fn said(question: &str, bytes: usize) -> [Turn; 2] {
        let reply = Reply {
            text: "x".repeat(bytes),
            calls: Vec::new(),
            stop: StopReason::Finished,
            usage: None,
            thoughts: Vec::new(),
        };
        [Turn::User(question.to_owned()), Turn::Model(reply)]
    }

    fn user(name: &str) -> UserId {
        name.parse().unwrap()
    }

    #[test]
    fn a_conversation_is_its_users_alone() {
        let conversations = Conversations::default();
        conversations.remember(&user("ann"), Uuid::from_u128(1), said("hello", 1).to_vec());
        assert_eq!(conversations.recall(&user("ann"), Uuid::from_u128(1)).len(), 2);
        assert!(conversations.recall(&user("bob"), Uuid::from_u128(1)).is_empty());
        conversations.forget(&user("bob"), Uuid::from_u128(1));
        assert_eq!(conversations.recall(&user("ann"), Uuid::from_u128(1)).len(), 2);
        conversations.forget(&user("ann"), Uuid::from_u128(1));
        assert!(conversations.recall(&user("ann"), Uuid::from_u128(1)).is_empty());
    }

    #[test]
    fn the_oldest_exchanges_go_first_and_whole() {
        let third = CHAT_CONVERSATION_BYTES_MAX / 3;
        let turns: Vec<Turn> =
            ["a", "b", "c", "d"].into_iter().flat_map(|question| said(question, third)).collect();
        let conversations = Conversations::default();
        conversations.remember(&user("ann"), Uuid::nil(), turns);
        let kept = conversations.recall(&user("ann"), Uuid::nil());
        assert_eq!(kept.len(), 4);
        assert_eq!(kept[0], Turn::User("c".to_owned()));
    }

    #[test]
    fn who_begins_many_conversations_forgets_the_first_of_their_own() {
        let conversations = Conversations::default();
        conversations.remember(&user("bob"), Uuid::nil(), said("hello", 1).to_vec());
        for number in 0..=CHAT_CONVERSATIONS_PER_USER_MAX {
            conversations.remember(&user("ann"), Uuid::from_u128(number as u128), said("hello", 1).to_vec());
        }
        assert!(conversations.recall(&user("ann"), Uuid::from_u128(0)).is_empty());
        assert_eq!(conversations.recall(&user("ann"), Uuid::from_u128(1)).len(), 2);
        assert_eq!(conversations.recall(&user("bob"), Uuid::nil()).len(), 2);
    }
}
