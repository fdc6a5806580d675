//! What scanners found in the skills that a caller sees, and in those that they saved and that are held back. Files that several skills have are scanned
//! once, so a finding is shown with a skill of whoever asks: nobody learns that others have the same files.

use std::collections::BTreeMap;

use artel_catalog::shared::{Entry, Snapshot};
use artel_model::access::Principal;
use artel_model::catalog::FindingRecord;
use artel_store::{Cursor, FindingFilter, Page, PageRequest, StoreError};

use super::service::Catalogs;

/// Findings that are read at once while looking for those to show.
const READ_AT_ONCE: usize = 200;

impl Catalogs {
    /// Returns a page of what was found in the skills that somebody sees; administrators also see what was found in files
    /// that no skill has any more.
    pub async fn findings(
        &self,
        caller: &Principal,
        snapshot: &Snapshot,
        filter: &FindingFilter,
        wanted: &PageRequest,
    ) -> Result<Page<FindingRecord>, StoreError> {
        let lens = Lens { seen: seen(caller, snapshot), is_admin: caller.is_admin(), filter };
        // Whose skill it is counts when it is shown, not when it was scanned.
        let (severity_min, content_revision) = (filter.severity_min, filter.content_revision.clone());
        let kept = FindingFilter { severity_min, content_revision, ..FindingFilter::default() };
        let (mut items, mut full) = (Vec::new(), None);
        let mut after = wanted.after.clone();
        loop {
            let page = self.read(&kept, after.clone(), READ_AT_ONCE).await?;
            let shown: Vec<(usize, FindingRecord)> = page
                .items
                .into_iter()
                .enumerate()
                .filter_map(|(place, finding)| Some((place, lens.shown(finding)?)))
                .collect();
            let missing = wanted.limit - items.len();
            if missing == 0 && !shown.is_empty() {
                return Ok(Page { items, next: full });
            }
            if missing > 0 && shown.len() >= missing {
                // The next page begins after the last that is shown: a position among those of others would say something.
                full = self.read(&kept, after.clone(), shown[missing - 1].0 + 1).await?.next;
                let has_more = shown.len() > missing;
                items.extend(shown.into_iter().take(missing).map(|(_, finding)| finding));
                if has_more {
                    return Ok(Page { items, next: full });
                }
            } else {
                items.extend(shown.into_iter().map(|(_, finding)| finding));
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(Page { items, next: None }),
            }
        }
    }

    async fn read(
        &self,
        filter: &FindingFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<FindingRecord>, StoreError> {
        self.parts().stores.scans.findings(filter, &PageRequest { after, limit }).await
    }
}

/// How somebody sees findings.
struct Lens<'a> {
    /// The skills that they see, by the hash of their files.
    seen: BTreeMap<&'a str, Vec<&'a Entry>>,
    is_admin: bool,
    filter: &'a FindingFilter,
}

impl Lens<'_> {
    /// Returns a finding with a skill that they see and asked for; nothing when there is none.
    fn shown(&self, finding: FindingRecord) -> Option<FindingRecord> {
        let Some(entries) = self.seen.get(finding.content_revision.as_str()) else {
            return Some(finding).filter(|finding| self.is_admin && self.fits(finding));
        };
        let named = |entry: &&Entry| FindingRecord {
            source_type: entry.source(),
            source_id: entry.source_id(),
            skill_id: entry.id.to_string(),
            ..finding.clone()
        };
        entries.iter().map(named).find(|finding| self.fits(finding))
    }

    fn fits(&self, finding: &FindingRecord) -> bool {
        let FindingFilter { source_type, source_id, skill_id, .. } = self.filter;
        source_type.is_none_or(|source| source == finding.source_type)
            && (source_id.is_none() || *source_id == finding.source_id)
            && skill_id.as_ref().is_none_or(|skill| *skill == finding.skill_id)
    }
}

fn seen<'a>(caller: &Principal, snapshot: &'a Snapshot) -> BTreeMap<&'a str, Vec<&'a Entry>> {
    let mut seen: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    let is_seen = |entry: &&Entry| caller.is_admin() || entry.visibility.is_seen_by(&caller.viewer);
    // What is held back is shown to its owner, and not to those it was meant for.
    let is_own = |entry: &&Entry| caller.owns(entry.owner.as_ref());
    let served = snapshot.entries().iter().filter(is_seen);
    for entry in served.chain(snapshot.blocked().iter().filter(is_own)) {
        seen.entry(&entry.content_hash).or_default().push(entry);
    }
    seen
}
