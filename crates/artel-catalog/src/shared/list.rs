//! Pages of what somebody sees: everything in its order, or what matches some words, the best first.

use std::str::FromStr;

use artel_model::catalog::{ScanStatus, SourceKind, Visibility};
use artel_model::limit::{CATALOG_PAGE_SIZE, CATALOG_PAGE_SIZE_MAX};

use super::entry::Entry;
use super::view::View;
use crate::search::{DocumentSet, Hit, Query, QueryExtent, Window};

/// What is said when nothing matches.
pub const NO_MATCHES: &str = "no_matches";

/// What somebody wants to see.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ListQuery {
    /// Words to search for; nothing but spaces is no search.
    pub words: Option<String>,
    /// Which page.
    pub page: Page,
    /// Only of that source.
    pub source: Option<SourceKind>,
    /// Only what so many people see.
    pub who: Option<Who>,
    /// Only what stands so with scanners.
    pub scan_status: Option<ScanStatus>,
    /// Only what has all these tags; upper and lower case are the same.
    pub tags: Vec<String>,
}

/// Which page of a list, and how large pages are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Page {
    number: u32,
    size: usize,
}

/// Why there is no such page.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum PageError {
    /// Pages are counted from 1.
    #[error("pages are counted from 1")]
    Number,
    /// A page has a size that can be answered at once.
    #[error("a page has 1 to {CATALOG_PAGE_SIZE_MAX} skills")]
    Size,
}

/// How many people see a skill, as a filter: the word of its visibility.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Who {
    /// Everybody.
    Everybody,
    /// Teams.
    Teams,
    /// One person.
    OnePerson,
}

/// A word that is no visibility.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no visibility; there are global, team and personal")]
pub struct UnknownWho(String);

/// One page of a list.
#[derive(Clone, Debug)]
pub struct Listing<'a> {
    /// The skills of the page.
    pub items: Vec<ListingItem<'a>>,
    /// How many skills match altogether.
    pub total: usize,
    /// Which page it is.
    pub page: Page,
    /// Whether there are further pages.
    pub has_more: bool,
    /// [`NO_MATCHES`] when something was asked for and nothing matches.
    pub message: Option<&'static str>,
    /// How much of the words was searched for; nothing without words.
    pub extent: Option<QueryExtent>,
}

/// One skill of a list.
#[derive(Clone, Debug)]
pub struct ListingItem<'a> {
    /// The skill.
    pub entry: &'a Entry,
    /// Why it was found, when words were searched for.
    pub hit: Option<Hit>,
}

impl Page {
    /// Makes a page.
    pub fn new(number: u32, size: usize) -> Result<Self, PageError> {
        if number == 0 {
            Err(PageError::Number)
        } else if size == 0 || size > CATALOG_PAGE_SIZE_MAX {
            Err(PageError::Size)
        } else {
            Ok(Self { number, size })
        }
    }

    /// Returns which page it is, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns how many skills a page has.
    pub fn size(self) -> usize {
        self.size
    }

    fn offset(self) -> usize {
        (self.number as usize - 1).saturating_mul(self.size)
    }
}

impl Default for Page {
    fn default() -> Self {
        Self { number: 1, size: CATALOG_PAGE_SIZE }
    }
}

impl Who {
    fn is(self, visibility: &Visibility) -> bool {
        match visibility {
            Visibility::Global => self == Self::Everybody,
            Visibility::Team { .. } => self == Self::Teams,
            Visibility::Personal { .. } => self == Self::OnePerson,
        }
    }
}

impl FromStr for Who {
    type Err = UnknownWho;

    fn from_str(text: &str) -> Result<Self, UnknownWho> {
        match text {
            "global" => Ok(Self::Everybody),
            "team" => Ok(Self::Teams),
            "personal" => Ok(Self::OnePerson),
            unknown => Err(UnknownWho(unknown.chars().take(64).collect())),
        }
    }
}

impl ListQuery {
    fn words(&self) -> Option<Query> {
        self.words.as_deref().filter(|words| !words.trim().is_empty()).map(Query::new)
    }

    fn is_filtered(&self) -> bool {
        let Self { words: _, page: _, source, who, scan_status, tags } = self;
        source.is_some() || who.is_some() || scan_status.is_some() || !tags.is_empty()
    }

    /// Says whether a skill fits everything that was asked for but the words.
    pub fn fits(&self, entry: &Entry) -> bool {
        let has = |tag: &String| entry.tags().iter().any(|own| own.eq_ignore_ascii_case(tag));
        self.source.is_none_or(|source| entry.source() == source)
            && self.who.is_none_or(|who| who.is(&entry.visibility))
            && self.scan_status.is_none_or(|status| entry.scan.status == status)
            && self.tags.iter().all(has)
    }
}

pub(super) fn listing<'a>(view: &'a View, query: &ListQuery) -> Listing<'a> {
    let words = query.words();
    let (items, total) = match &words {
        Some(words) => found(view, query, words),
        None => in_order(view, query),
    };
    let is_asked = words.is_some() || query.is_filtered();
    Listing {
        has_more: query.page.offset().saturating_add(items.len()) < total && !items.is_empty(),
        message: (total == 0 && is_asked).then_some(NO_MATCHES),
        extent: words.map(|words| words.extent()),
        page: query.page,
        items,
        total,
    }
}

fn in_order<'a>(view: &'a View, query: &ListQuery) -> (Vec<ListingItem<'a>>, usize) {
    let item = |entry| ListingItem { entry, hit: None };
    let (skip, take) = (query.page.offset(), query.page.size());
    if !query.is_filtered() {
        return (view.entries().skip(skip).take(take).map(item).collect(), view.len());
    }
    let fitting: Vec<&Entry> = view.entries().filter(|entry| query.fits(entry)).collect();
    let items = fitting.iter().copied().skip(skip).take(take).map(item).collect();
    (items, fitting.len())
}

fn found<'a>(view: &'a View, query: &ListQuery, words: &Query) -> (Vec<ListingItem<'a>>, usize) {
    let window = Window { offset: query.page.offset(), limit: query.page.size() };
    let found = view.ask(|index| {
        if window.offset == 0 && !query.is_filtered() {
            return index.search(words, window.limit);
        }
        let fitting = (0_u32..).zip(view.entries()).filter(|(_, entry)| query.fits(entry));
        let fitting: DocumentSet = fitting.map(|(position, _)| position).collect();
        index.search_within(words, &fitting, window)
    });
    let item = |hit: Hit| Some(ListingItem { entry: view.nth(hit.document)?, hit: Some(hit) });
    (found.hits.into_iter().filter_map(item).collect(), found.total)
}
