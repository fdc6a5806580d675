//! The whole trail of a skill, the last first: what was kept for it, what scanners said of its files, and what came of running
//! them. The three are lists of their own, which are joined by time.

use std::collections::BTreeSet;

use artel_api::trail::{TrailItem, TrailStep};
use artel_model::access::UserId;
use artel_model::catalog::{TrailEntry, TrailEvent, TrailKind, VerdictRecord};
use artel_model::limit::TRAIL_VERSIONS_MAX;
use artel_model::name::SkillName;
use artel_model::run::ExecutionRecord;
use artel_model::time::Timestamp;
use artel_store::{Cursor, ExecutionFilter, Page, PageRequest, StoreError, TrailFilter};
use uuid::Uuid;

use crate::app::Stores;

/// Executions that are read at once, and how often, for one page: skills of the same name may have many that are not theirs.
const EXECUTIONS_PAGE: usize = 200;
const EXECUTION_PAGES_MAX: usize = 10;
/// What the ids of verdicts are made with, to order them among the rest.
const NAMESPACE: Uuid = Uuid::from_u128(0x6172_7465_6c2d_7472_6169_6c2d_7363_616e);

/// Whose trail is asked for, and who asks.
#[derive(Clone, Debug)]
pub struct TrailQuestion {
    /// The skill's id in the catalog.
    pub skill_id: String,
    /// Its name.
    pub name: SkillName,
    /// The hash of its files.
    pub content_hash: String,
    /// Only what is about this user, or about the files alone; about everybody when absent.
    pub about: Option<UserId>,
    /// Who reads; nothing for somebody who has the data folder in hand.
    pub reader: Option<UserId>,
}

/// An item and its place in the list.
type Placed = ((Timestamp, Uuid), TrailItem);

/// Reads a page of the trail.
pub async fn read_trail(
    stores: &Stores,
    question: &TrailQuestion,
    page: &PageRequest,
) -> Result<Page<TrailItem>, StoreError> {
    let after = page.after.as_ref().map(Cursor::place).transpose()?;
    let filter = TrailFilter {
        skill_id: question.skill_id.clone(),
        kind: None,
        about: question.about.clone(),
        reader: question.reader.clone(),
    };
    let hashes = hashes(stores, question, &filter).await?;
    let one_more = PageRequest { limit: page.limit.saturating_add(1), ..page.clone() };
    let kept = stores.trail.trail(&filter, &one_more).await?.items;
    let mut placed: Vec<Placed> = kept.into_iter().map(|entry| of_entry(entry, &question.skill_id)).collect();
    for hash in &hashes {
        let verdicts = stores.scans.verdicts(hash).await?;
        placed.extend(verdicts.into_iter().map(|verdict| of_verdict(verdict, &question.skill_id)));
    }
    let (executions, horizon) = executions(stores, question, &hashes, &one_more).await?;
    placed.extend(executions.into_iter().map(|record| of_execution(record, &question.skill_id)));
    placed.retain(|(place, _)| after.is_none_or(|after| *place < after));
    // What lies behind the last execution that was looked at belongs to the next page, and so does what lies there too.
    placed.retain(|(place, _)| horizon.is_none_or(|horizon| *place >= horizon));
    placed.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    let cut = Page::cut(placed, page.limit, |(place, _)| *place);
    let next = cut.next.or(horizon.map(|(at, id)| Cursor::behind(at, id)));
    Ok(Page { items: cut.items.into_iter().map(|(_, item)| item).collect(), next })
}

/// Returns the hashes of the files that the skill has, and had.
async fn hashes(
    stores: &Stores,
    question: &TrailQuestion,
    filter: &TrailFilter,
) -> Result<BTreeSet<String>, StoreError> {
    let installs = TrailFilter { kind: Some(TrailKind::Installed), ..filter.clone() };
    let page = PageRequest { after: None, limit: TRAIL_VERSIONS_MAX };
    let installed = stores.trail.trail(&installs, &page).await?.items.into_iter();
    let hashes = installed.map(|entry| entry.content_hash);
    Ok(hashes.chain([question.content_hash.clone()]).collect())
}

/// Returns as many executions of these files as a page has, and the last that was looked at when there may be more that were not.
async fn executions(
    stores: &Stores,
    question: &TrailQuestion,
    hashes: &BTreeSet<String>,
    page: &PageRequest,
) -> Result<(Vec<ExecutionRecord>, Option<(Timestamp, Uuid)>), StoreError> {
    let filter = ExecutionFilter {
        skill: Some(question.name.clone()),
        owner: question.about.clone(),
        ..ExecutionFilter::default()
    };
    let mut found = Vec::new();
    let mut request = PageRequest { after: page.after.clone(), limit: EXECUTIONS_PAGE };
    for _ in 0..EXECUTION_PAGES_MAX {
        let records = stores.executions.executions(&filter, &request).await?;
        found.extend(records.items.into_iter().filter(|record| hashes.contains(&record.content_hash)));
        match records.next {
            None => return Ok((found, None)),
            Some(_) if found.len() >= page.limit => return Ok((found, None)),
            Some(next) => request.after = Some(next),
        }
    }
    let horizon = request.after.as_ref().map(Cursor::place).transpose()?;
    Ok((found, horizon))
}

fn of_entry(entry: TrailEntry, skill_id: &str) -> Placed {
    let mut item = TrailItem::new(entry.at, skill_id, entry.content_hash, TrailStep::Installed);
    item.user = entry.user.map(|user| user.to_string());
    match entry.event {
        TrailEvent::Installed => {}
        TrailEvent::Offered { by, query, rank, matched } => {
            item.event = TrailStep::Offered;
            item.by = Some(by.as_str().to_owned());
            (item.query, item.rank, item.matched) = (Some(query), Some(rank), matched);
        }
        TrailEvent::Activated { by } => {
            item.event = TrailStep::Activated;
            item.by = Some(by.as_str().to_owned());
        }
    }
    ((entry.at, entry.id), item)
}

fn of_verdict(verdict: VerdictRecord, skill_id: &str) -> Placed {
    let name = format!("{}\n{}", verdict.content_hash, verdict.engine);
    let id = Uuid::new_v5(&NAMESPACE, name.as_bytes());
    let mut item = TrailItem::new(verdict.scanned_at, skill_id, verdict.content_hash, TrailStep::Scanned);
    item.by = Some(format!("{} {}", verdict.engine, verdict.engine_version));
    item.findings = Some(verdict.findings.len() as u64);
    item.worst = verdict.worst;
    item.result = Some(if verdict.is_complete { "complete" } else { "incomplete" }.to_owned());
    ((verdict.scanned_at, id), item)
}

fn of_execution(record: ExecutionRecord, skill_id: &str) -> Placed {
    let mut item = TrailItem::new(record.started_at, skill_id, record.content_hash, TrailStep::Executed);
    item.run_id = Some(record.run_id.0);
    item.execution_id = Some(record.execution_id.0);
    item.agent_id = record.agent_id.map(|agent| agent.0);
    item.result = Some(record.status.as_str().to_owned());
    item.duration_ms = record.duration_ms;
    ((record.started_at, record.execution_id.0), item)
}
