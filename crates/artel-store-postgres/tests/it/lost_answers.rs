//! A write whose answer is lost with the connection is done once, and told as done.

use artel_model::catalog::{AuditAction, AuditEntry, CustomSkill, Hub};
use artel_model::message::Message;
use artel_store::contract::{
    agent_id, agent_record, audit_entry, correlation, custom_id, custom_skill, message_id, new_agent,
    new_hub, new_run, note, peek, post, run_id, said, to,
};
use artel_store::{
    AgentAppend, AgentAppendError, AgentStore as _, AppendError, AuditFilter, AuditStore as _, Claim,
    Created, CustomSkillStore as _, Fence, HubStore as _, MailStore as _, NewRun, OwnerId, PageRequest,
    Posted, Revision, RunAppend, RunStore as _, SaveRefused,
};
use artel_store_postgres::{PostgresOptions, PostgresStore};

use crate::own_server::OwnServer;
use crate::proxy::{Break, MARK, breaking_way};

const WORKS: &str = "the store works";

/// Returns two ways to one store that keeps one run: one that breaks at the mark, and one that does not.
async fn stores(server: &OwnServer, at: Break) -> (PostgresStore, PostgresStore) {
    let way = breaking_way(server, at).await;
    let breaking = PostgresStore::connect(&way, PostgresOptions::default()).await.expect(WORKS);
    let whole = PostgresStore::connect(&server.url, PostgresOptions::default()).await.expect(WORKS);
    whole.create(new_run(run_id(1), 10)).await.expect(WORKS);
    (breaking, whole)
}

fn append(expected: u64, text: &str) -> RunAppend {
    RunAppend {
        run: run_id(1),
        expected: Revision(expected),
        fence: Some(Fence(1)),
        events: vec![note(11, text), note(12, "and more")],
        summary: None,
        executions: Vec::new(),
        health: Vec::new(),
    }
}

async fn appends_once(at: Break) {
    let server = OwnServer::start();
    let (breaking, whole) = stores(&server, at).await;
    assert_eq!(breaking.append(append(1, MARK)).await.expect(WORKS), Revision(3), "{at:?}");
    let log = whole.events(run_id(1), Revision(0), 10).await.expect(WORKS);
    let log: Vec<_> = log.into_iter().map(|logged| logged.event).collect();
    assert_eq!(log, [note(10, "submitted"), note(11, MARK), note(12, "and more")], "{at:?}");
}

#[tokio::test]
async fn an_append_that_did_not_arrive_is_sent_again() {
    appends_once(Break::Before).await;
}

#[tokio::test]
async fn an_append_that_arrived_is_not_done_twice() {
    appends_once(Break::After).await;
}

#[tokio::test]
async fn an_append_that_did_not_arrive_may_still_lose_to_another() {
    let server = OwnServer::start();
    let (breaking, whole) = stores(&server, Break::Before).await;
    whole.append(append(1, "somebody else's")).await.unwrap();
    let answer = breaking.append(append(1, MARK)).await;
    assert!(matches!(answer, Err(AppendError::Conflict { actual: Revision(3) })), "{answer:?}");
}

#[tokio::test]
async fn a_run_whose_answer_was_lost_is_kept_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let run = NewRun {
            events: vec![note(10, MARK)],
            idempotency_key: Some("key".to_owned()),
            ..new_run(run_id(2), 10)
        };
        assert_eq!(breaking.create(run).await.unwrap(), Created::New, "{at:?}");
        assert_eq!(whole.events(run_id(2), Revision(0), 10).await.unwrap().len(), 1, "{at:?}");
    }
}

#[tokio::test]
async fn a_claim_whose_answer_was_lost_is_ours() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let claim = Claim { run: run_id(1), seen: Fence(1), owner: OwnerId(MARK.to_owned()) };
        assert_eq!(breaking.claim(claim).await.unwrap(), Fence(2), "{at:?}");
        assert_eq!(whole.run(run_id(1)).await.unwrap().unwrap().fence, Fence(2), "{at:?}");
    }
}

#[tokio::test]
async fn an_agent_whose_answer_was_lost_is_kept_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let mut record = agent_record(1, None, 10);
        record.spec.name = Some(MARK.to_owned());
        assert_eq!(breaking.create_agent(new_agent(record)).await.unwrap(), Ok(()), "{at:?}");
        assert_eq!(whole.agent_events(agent_id(1), Revision(0), 10).await.unwrap().len(), 1, "{at:?}");
    }
}

#[tokio::test]
async fn an_agents_append_whose_answer_was_lost_is_done_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let record = agent_record(1, None, 10);
        whole.create_agent(new_agent(record.clone())).await.expect(WORKS).expect("there is room");
        let append = |text| AgentAppend {
            expected: Revision(1),
            events: vec![said(20, text), said(21, "and more")],
            record: record.clone(),
        };
        assert_eq!(breaking.append_agent(append(MARK)).await.unwrap(), Revision(3), "{at:?}");
        assert_eq!(whole.agent_events(agent_id(1), Revision(0), 10).await.unwrap().len(), 3, "{at:?}");
        let late = breaking.append_agent(append("somebody else's")).await;
        assert!(matches!(late, Err(AgentAppendError::Conflict { actual: Revision(3) })), "{late:?}");
    }
}

#[tokio::test]
async fn a_message_whose_answer_was_lost_is_posted_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let agent = new_agent(agent_record(1, None, 10));
        whole.create_agent(agent).await.expect(WORKS).expect("there is room");
        let marked = serde_json::Map::from_iter([("text".to_owned(), MARK.into())]);
        let payload = marked.try_into().expect("it is short");
        let message = Message { payload, correlation: Some(correlation(7)), ..to(1, 1) };
        let posted = breaking.post(post(message.clone())).await.unwrap();
        assert_eq!(posted, Posted::Delivered(vec![agent_id(1)]), "{at:?}");
        assert_eq!(breaking.post(post(message)).await.unwrap(), Posted::Duplicate, "{at:?}");
        let mail = whole.mailbox(peek(1, 1000)).await.unwrap();
        assert_eq!(mail.iter().map(|mail| mail.message.id).collect::<Vec<_>>(), [message_id(1)], "{at:?}");
    }
}

#[tokio::test]
async fn a_skill_whose_answers_were_lost_is_saved_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let marked = CustomSkill { content: MARK.to_owned(), ..custom_skill(1, 10) };
        assert_eq!(breaking.create_skill(&marked, 9).await.unwrap(), Ok(()), "{at:?}");
        assert_eq!(whole.custom_skill(custom_id(1)).await.unwrap(), Some(marked.clone()), "{at:?}");
        let exists = breaking.create_skill(&marked, 9).await.unwrap();
        assert_eq!(exists, Err(SaveRefused::Exists), "{at:?}");
    }
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let first = custom_skill(1, 10);
        whole.create_skill(&first, 9).await.unwrap().unwrap();
        let marked = CustomSkill { content: MARK.to_owned(), revision: 2, ..first };
        assert_eq!(breaking.update_skill(1, &marked).await.unwrap(), Ok(()), "{at:?}");
        let late = breaking.update_skill(1, &marked).await.unwrap();
        assert_eq!(late, Err(SaveRefused::Conflict { actual: 2 }), "{at:?}");
    }
}

#[tokio::test]
async fn a_hub_and_an_entry_whose_answers_were_lost_are_kept_once() {
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let hub = Hub { reference: Some(MARK.to_owned()), ..new_hub(1) };
        let position = breaking.create_hub(&hub, 9).await.unwrap().unwrap();
        assert_eq!(whole.hubs().await.unwrap(), [Hub { position, ..hub }], "{at:?}");
    }
    for at in [Break::Before, Break::After] {
        let server = OwnServer::start();
        let (breaking, whole) = stores(&server, at).await;
        let entry = audit_entry(1, 10, "ann", AuditAction::HubCreated);
        let entry = AuditEntry { summary: MARK.to_owned(), ..entry };
        breaking.add_audit(&entry).await.unwrap();
        let page = PageRequest { after: None, limit: 9 };
        let log = whole.audit(&AuditFilter::default(), &page).await.unwrap();
        assert_eq!(log.items, [entry], "{at:?}");
    }
}
