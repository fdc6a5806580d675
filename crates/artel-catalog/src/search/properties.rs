//! What holds for any documents and any query.

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::{DocumentSet, Query, SearchDocument, SearchIndex, Window};

const WORDS: [&str; 24] = [
    "fetch",
    "fetcher",
    "object",
    "objects",
    "robot",
    "navigate",
    "navigation",
    "detect",
    "grasp",
    "dice",
    "roll",
    "roller",
    "story",
    "stories",
    "a",
    "to",
    "the",
    "git",
    "hub",
    "github",
    "2d6",
    "memory",
    "camera",
    "reputation",
];

const LONG_WORDS: [&str; 6] = ["fetch", "object", "navigate", "memory", "camera", "reputation"];

#[derive(Debug, Clone)]
struct Document {
    name: String,
    title: String,
    tags: Vec<String>,
    description: String,
    body: String,
}

impl Document {
    fn texts(&self) -> SearchDocument<'_> {
        let Self { name, title, tags, description, body } = self;
        SearchDocument { name, title, description, tags, body }
    }
}

fn index(documents: &[Document]) -> SearchIndex {
    SearchIndex::build(documents.iter().map(Document::texts))
}

fn text(words: std::ops::Range<usize>) -> impl Strategy<Value = String> {
    proptest::collection::vec(select(&WORDS[..]), words).prop_map(|words| words.join(" "))
}

fn document() -> impl Strategy<Value = Document> {
    let fields = (text(1..4), text(0..3), text(0..3), text(0..12), text(0..30));
    fields.prop_map(|(name, title, tags, description, body)| Document {
        name: name.replace(' ', "-"),
        title,
        tags: tags.split(' ').map(str::to_owned).collect(),
        description,
        body,
    })
}

fn documents() -> impl Strategy<Value = Vec<Document>> {
    proptest::collection::vec(document(), 1..16)
}

/// Words, beginnings of words, misspelt words and anything at all.
fn query() -> impl Strategy<Value = String> {
    let word = select(&WORDS[..]).prop_map(str::to_owned);
    let beginning = "[a-z]{1,3}";
    let misspelt = (select(&WORDS[..]), edit()).prop_map(|(word, edit)| edit.applied(word));
    let one = prop_oneof![4 => word, 1 => beginning, 2 => misspelt, 1 => any::<String>()];
    proptest::collection::vec(one, 0..6).prop_map(|words| words.join(" "))
}

#[derive(Debug, Clone)]
enum Edit {
    Insert(Index, char),
    Delete(Index),
    Replace(Index, char),
    Swap(Index),
}

impl Edit {
    fn applied(&self, word: &str) -> String {
        let mut letters: Vec<char> = word.chars().collect();
        match self {
            Self::Insert(at, letter) => letters.insert(at.index(letters.len() + 1), *letter),
            Self::Delete(at) => {
                letters.remove(at.index(letters.len()));
            }
            Self::Replace(at, letter) => {
                let at = at.index(letters.len());
                letters[at] = *letter;
            }
            Self::Swap(at) if letters.len() > 1 => {
                let at = at.index(letters.len() - 1);
                letters.swap(at, at + 1);
            }
            Self::Swap(_) => {}
        }
        letters.into_iter().collect()
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let (at, letter) = (any::<Index>(), proptest::char::range('a', 'z'));
    prop_oneof![
        (at, letter.clone()).prop_map(|(at, letter)| Edit::Insert(at, letter)),
        any::<Index>().prop_map(Edit::Delete),
        (any::<Index>(), letter).prop_map(|(at, letter)| Edit::Replace(at, letter)),
        any::<Index>().prop_map(Edit::Swap),
    ]
}

proptest! {
    #[test]
    fn any_text_is_read_and_any_query_answered(
        name in any::<String>(),
        body in any::<String>(),
        query in any::<String>(),
    ) {
        let documents = [SearchDocument { name: &name, body: &body, ..SearchDocument::default() }];
        SearchIndex::build(documents).search(&Query::new(&query), 10);
    }

    #[test]
    fn a_document_is_found_by_its_name(name in "[\\p{L}\\p{N}_. -]{1,60}", others in documents()) {
        let named = Document { name: name.clone(), ..others[0].clone() };
        let documents: Vec<Document> = others.into_iter().chain([named]).collect();
        let position = documents.len() as u32 - 1;
        let query = Query::new(&name);
        let found = index(&documents).search(&query, 200);
        prop_assert!(query.is_empty() || found.hits.iter().any(|hit| hit.document == position), "{query:?}");
    }

    #[test]
    fn a_whole_name_is_first(documents in documents(), which in any::<Index>()) {
        let name = &which.get(&documents).name;
        let found = index(&documents).search(&Query::new(name), 200);
        let first = &documents[found.hits[0].document as usize].name;
        prop_assert_eq!(first.replace('-', ""), name.replace('-', ""));
    }

    #[test]
    fn scores_fall_and_are_explained(documents in documents(), query in query()) {
        let found = index(&documents).search(&Query::new(&query), 200);
        prop_assert_eq!(found.total, found.hits.len());
        for pair in found.hits.windows(2) {
            let in_order = pair[0].score > pair[1].score
                || pair[0].score == pair[1].score && pair[0].document < pair[1].document;
            prop_assert!(in_order, "{:?}", pair);
        }
        for hit in &found.hits {
            let sum: f32 = hit.explanation.iter().map(|one| one.contribution).sum();
            prop_assert!(hit.score > 0.0 && (sum - hit.score).abs() < 1e-3, "{hit:#?}");
        }
    }

    #[test]
    fn the_same_search_gives_the_same_answer(documents in documents(), query in query(), other in query()) {
        let (query, shouted) = (Query::new(&query), Query::new(&query.to_ascii_uppercase()));
        let index = index(&documents);
        let first = index.search(&query, 200);
        index.search(&Query::new(&other), 3);
        prop_assert_eq!(&first, &index.search(&query, 200), "whatever was searched in between");
        prop_assert_eq!(&first, &index.search(&shouted, 200));
        prop_assert_eq!(&first, &self::index(&documents).search(&query, 200));
    }

    #[test]
    fn a_limit_cuts_and_changes_nothing_else(
        documents in documents(),
        query in query(),
        limit in 0_usize..20,
    ) {
        let (index, query) = (index(&documents), Query::new(&query));
        let (all, some) = (index.search(&query, 200), index.search(&query, limit));
        prop_assert_eq!(&all.hits[..limit.min(all.hits.len())], &some.hits[..]);
        prop_assert_eq!(all.total, some.total);
    }

    #[test]
    fn a_typo_is_forgiven(others in documents(), word in select(&LONG_WORDS[..]), edit in edit()) {
        let misspelt = edit.applied(word);
        // An edit can make a word that some document has; that word is then what was asked for.
        let singular = |word: &str| word.trim_end_matches('s').to_owned();
        prop_assume!(!WORDS.iter().any(|known| singular(known) == singular(&misspelt)));
        let named = Document { name: word.to_owned(), ..others[0].clone() };
        let documents: Vec<Document> = others.into_iter().chain([named]).collect();
        let position = documents.len() as u32 - 1;
        let found = index(&documents).search(&Query::new(&misspelt), 200);
        prop_assert!(found.hits.iter().any(|hit| hit.document == position), "{misspelt} {found:?}");
    }

    #[test]
    fn an_unrelated_document_changes_no_membership(
        documents in documents(),
        query in query(),
        at in any::<Index>(),
    ) {
        let query = Query::new(&query.replace(|letter: char| !letter.is_ascii(), ""));
        let at = at.index(documents.len() + 1);
        let mut more = documents.clone();
        let unrelated = "\u{436}\u{443}\u{43a} \u{436}\u{443}\u{43a}\u{438}".to_owned();
        more.insert(at, Document {
            name: unrelated.clone(),
            title: unrelated.clone(),
            tags: vec![unrelated.clone()],
            description: unrelated.clone(),
            body: unrelated,
        });
        let members = |found: super::Found| {
            let mut members: Vec<u32> = found.hits.iter().map(|hit| hit.document).collect();
            members.sort_unstable();
            members
        };
        let before = members(index(&documents).search(&query, 200)).into_iter();
        let before: Vec<u32> = before.map(|position| position + u32::from(position as usize >= at)).collect();
        prop_assert_eq!(before, members(index(&more).search(&query, 200)));
    }

    /// Scores and explanations included: nothing outside the view can be felt.
    #[test]
    fn a_view_is_like_an_index_of_its_own(
        documents in documents(),
        visible in proptest::collection::vec(any::<bool>(), 16),
        query in query(),
    ) {
        let query = Query::new(&query);
        let positions = 0..documents.len() as u32;
        let own: Vec<u32> = positions.filter(|position| visible[*position as usize]).collect();
        let view: DocumentSet = own.iter().copied().collect();
        let alone: Vec<Document> = own.iter().map(|position| documents[*position as usize].clone()).collect();
        let within = index(&documents).search_within(&query, &view, Window { offset: 0, limit: 200 });
        let mut apart = index(&alone).search(&query, 200);
        for hit in &mut apart.hits {
            hit.document = own[hit.document as usize];
        }
        prop_assert_eq!(within, apart);
    }
}
