//! The search as people meet it: documents, a query, and the names that come back in order.

use super::{
    BODY_BYTES_MAX, DocumentSet, Field, FieldSet, Found, MatchKind, Query, RESULTS_MAX, SearchDocument,
    SearchIndex, Window,
};

/// One document for each line: `name | title | tags | description | body`; missing parts are empty.
struct Corpus {
    rows: Vec<[String; 5]>,
    tags: Vec<Vec<String>>,
}

impl Corpus {
    fn new(lines: &[&str]) -> Self {
        let row = |line: &&str| {
            let mut parts = line.split('|').map(|part| part.trim().to_owned());
            std::array::from_fn(|_| parts.next().unwrap_or_default())
        };
        let rows: Vec<[String; 5]> = lines.iter().map(row).collect();
        let tags = rows.iter().map(|row| row[2].split(' ').map(str::to_owned).collect()).collect();
        Self { rows, tags }
    }

    fn index(&self) -> SearchIndex {
        SearchIndex::build(self.rows.iter().zip(&self.tags).map(|(row, tags)| SearchDocument {
            name: &row[0],
            title: &row[1],
            tags,
            description: &row[3],
            body: &row[4],
        }))
    }

    fn names(&self, found: &Found) -> Vec<&str> {
        found.hits.iter().map(|hit| self.rows[hit.document as usize][0].as_str()).collect()
    }
}

#[track_caller]
fn check(lines: &[&str], query: &str, expected: &[&str]) {
    let corpus = Corpus::new(lines);
    let found = corpus.index().search(&Query::new(query), 10);
    assert_eq!(corpus.names(&found), expected, "{query:?}\n{found:#?}");
    assert_eq!(found.total, expected.len(), "{query:?}");
}

const SKILLS: &[&str] = &[
    "fetch-object | Fetch an object | robot | Navigates to an object and grasps it | Calls navigate.",
    "navigate | Navigate | robot motion | Moves the robot to a place | Plan a path, then drive along it.",
    "detect | Detect | robot vision | Finds objects in a camera image | Reads the camera, names objects.",
    "dice-roller | Dice roller | game | Rolls dice such as 2d6+3 | Every roll is shown.",
    "storyteller | Storyteller | game text | Tells a story in a chosen style | Style is configured.",
    "httpServer | HTTP server | web | Serves files | Listens on a port.",
];

#[test]
fn the_more_telling_field_ranks_first() {
    check(
        &["e | | | | robot", "d | | | robot", "c | | robot", "b | robot", "robot", "unrelated"],
        "robot",
        &["robot", "b", "c", "d", "e"],
    );
}

#[test]
fn repeating_a_word_in_the_body_does_not_beat_the_name() {
    let stuffed = format!("stuffed | | | | {}", "dice ".repeat(500));
    check(&[&stuffed, "dice-roller | | | rolls"], "dice", &["dice-roller", "stuffed"]);
}

#[test]
fn kebab_and_camel_names_are_found_in_every_spelling() {
    for query in
        ["fetch-object", "fetch object", "fetchobject", "fetchObject", "FETCH_OBJECT", "Fetch Object!"]
    {
        let corpus = Corpus::new(SKILLS);
        let found = corpus.index().search(&Query::new(query), 10);
        assert_eq!(corpus.names(&found)[0], "fetch-object", "{query}");
    }
    check(SKILLS, "http server", &["httpServer"]);
    check(SKILLS, "httpserver", &["httpServer"]);
    check(SKILLS, "http-server", &["httpServer"]);
    check(&["github-tools", "git-tools | | | the hub"], "git hub", &["github-tools", "git-tools"]);
}

#[test]
fn a_whole_name_comes_first() {
    let documents =
        &["fetch-fetch | fetch | fetch | fetch fetch | fetch fetch", "fetch | | | gets | much text here"];
    check(documents, "fetch", &["fetch", "fetch-fetch"]);
    check(
        &["object-fetch | fetch object | fetch | fetch object", "fetch-object"],
        "fetch-object",
        &["fetch-object", "object-fetch"],
    );
}

#[test]
fn unfinished_words_match_by_prefix() {
    check(SKILLS, "nav", &["navigate", "fetch-object"]);
    check(SKILLS, "roll dic", &["dice-roller"]);
    check(SKILLS, "d", &["dice-roller", "detect"]);
    check(SKILLS, "st", &["storyteller"]);
}

#[test]
fn the_word_itself_is_better_than_a_longer_word() {
    check(&["a | | | testing", "b | | | test", "c | | | testers"], "test", &["b", "a", "c"]);
}

#[test]
fn singular_and_plural_find_each_other() {
    check(&["a | | | skills", "b | | | skill"], "skill", &["b", "a"]);
    check(&["a | | | skills", "b | | | skill"], "skills", &["a", "b"]);
    check(&["a | | | query"], "queries", &["a"]);
}

#[test]
fn typos_are_forgiven_when_nothing_has_the_word() {
    check(SKILLS, "naviagte", &["navigate", "fetch-object"]);
    check(SKILLS, "stroyteler", &["storyteller"]);
    check(SKILLS, "etect", &["detect"]);
    check(SKILLS, "xetect", &["detect"]);
    check(&["a | | | form", "b | | | from"], "from", &["b"]);
    check(&["a | | | abc"], "abd", &[]);
    check(&["a | | | abcdefg"], "abcdeyz", &[]);
    check(&["a | | | 2024"], "2023", &[]);
}

#[test]
fn documents_with_more_of_the_words_rank_first() {
    let documents = &["camera", "other | | | | the robot camera path", "robot | | | robot robot", "none"];
    check(documents, "robot camera path", &["other", "robot", "camera"]);
    check(documents, "robot unheard", &["robot", "other"]);
}

#[test]
fn words_that_everything_has_decide_little() {
    check(
        &["a | | | how to do it", "b | | | how to do that", "c | | | how to be you", "d | | | coffee"],
        "how to coffee",
        &["d", "a", "b", "c"],
    );
}

#[test]
fn equal_documents_come_in_build_order() {
    check(&["x | | | same", "y | | | same", "z | | | same"], "same", &["x", "y", "z"]);
}

#[test]
fn nothing_is_found_by_nothing() {
    for query in ["", "   ", "\n\t", "--- ... !?", "\u{200b}\u{301}"] {
        check(SKILLS, query, &[]);
    }
    let empty = SearchIndex::build([]);
    assert!(empty.is_empty());
    assert_eq!(empty.search(&Query::new("anything"), 10), Found { hits: Vec::new(), total: 0 });
}

#[test]
fn other_scripts_are_found() {
    check(
        &["a | | | \u{41d}\u{430}\u{439}\u{442}\u{438} \u{444}\u{430}\u{439}\u{43b}"],
        "\u{424}\u{410}\u{419}\u{41b}",
        &["a"],
    );
    check(&["a | | | \u{83b7}\u{53d6}\u{5bf9}\u{8c61}", "b | | | x"], "\u{5bf9}\u{8c61}", &["a"]);
    check(&["a | | | Caf\u{e9} M\u{fc}ller"], "cafe muller", &["a"]);
}

#[test]
fn a_hit_says_why_it_was_found() {
    let corpus = Corpus::new(SKILLS);
    let found = corpus.index().search(&Query::new("fetch objetc nav"), 1);
    let told = found.hits[0].explanation.iter();
    let told: Vec<_> = told.map(|one| (one.word.as_str(), one.term.as_str(), one.kind, one.fields)).collect();
    let (name, title) = (Field::Name, Field::Title);
    assert_eq!(
        told,
        [
            ("fetch", "fetch", MatchKind::Exact, FieldSet::of(&[name, title])),
            (
                "objetc",
                "object",
                MatchKind::Typo { distance: 1 },
                FieldSet::of(&[name, title, Field::Description])
            ),
            ("nav", "navigates", MatchKind::Prefix, FieldSet::of(&[Field::Description])),
        ]
    );
    let found = corpus.index().search(&Query::new("fetch objects"), 1);
    assert_eq!(found.hits[0].explanation[1].kind, MatchKind::Inflected);
    let found = corpus.index().search(&Query::new("fetch object"), 1);
    let kinds: Vec<_> = found.hits[0].explanation.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [MatchKind::Exact, MatchKind::Exact, MatchKind::Joined, MatchKind::WholeName]);
    assert_eq!(found.hits[0].explanation[3].word, "fetch object");
}

#[test]
fn results_are_limited_and_counted() {
    let lines: Vec<String> = (0..300).map(|number| format!("n{number} | | | same")).collect();
    let corpus = Corpus::new(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let found = corpus.index().search(&Query::new("same"), usize::MAX);
    assert_eq!((found.hits.len(), found.total), (RESULTS_MAX, 300));
    assert_eq!(corpus.index().search(&Query::new("same"), 0).total, 300);
}

#[test]
fn windows_continue_each_other() {
    let corpus = Corpus::new(SKILLS);
    let everything: DocumentSet = (0..6).collect();
    let window = |offset, limit| {
        let window = Window { offset, limit };
        corpus.index().search_within(&Query::new("robot game objects"), &everything, window)
    };
    let all = window(0, 10);
    assert_eq!(all.hits.len(), 5);
    assert_eq!([window(0, 2).hits, window(2, 2).hits, window(4, 2).hits].concat(), all.hits);
    assert_eq!(window(7, 2), Found { hits: Vec::new(), total: 5 });
    assert_eq!(window(usize::MAX, usize::MAX).hits, []);
}

#[test]
fn documents_outside_the_view_are_neither_found_nor_felt() {
    let corpus = Corpus::new(&["a | | | projct plan", "b | | | project plan", "c | | | projct"]);
    let visible: DocumentSet = [1].into_iter().collect();
    let window = Window { offset: 0, limit: 10 };
    let found = corpus.index().search_within(&Query::new("projct"), &visible, window);
    assert_eq!(corpus.names(&found), ["b"], "the typo is forgiven, although a hidden document has the word");

    let corpus = Corpus::new(&["git-hub-robot", "github"]);
    let visible: DocumentSet = [0].into_iter().collect();
    let query = Query::new("git hub robot");
    let found = corpus.index().search_within(&query, &visible, window);
    let alone = Corpus::new(&["git-hub-robot"]).index().search(&query, 10);
    assert_eq!(found, alone, "joined words that only a hidden document has are worth nothing");
}

#[test]
fn a_body_is_indexed_up_to_its_limit() {
    let body = format!("early {} late", "x ".repeat(BODY_BYTES_MAX / 2));
    let documents = [SearchDocument { name: "long", body: &body, ..SearchDocument::default() }];
    let index = SearchIndex::build(documents);
    assert_eq!(index.search(&Query::new("early"), 1).total, 1);
    assert_eq!(index.search(&Query::new("late"), 1).total, 0);
}

#[test]
fn several_shards_answer_as_one() {
    let names: Vec<String> = (0..40_000).map(|number| format!("item-{number}")).collect();
    let document = |name| SearchDocument { name, description: "shared", ..SearchDocument::default() };
    let index = SearchIndex::build(names.iter().map(|name| document(name.as_str())));
    assert_eq!(index.len(), 40_000);
    assert_eq!(index.search(&Query::new("shared"), 1).total, 40_000);
    for position in [0, 13_333, 13_334, 26_667, 39_999] {
        let hit = &index.search(&Query::new(&names[position as usize]), 1).hits[0];
        assert_eq!(hit.document, position);
    }
}
