//! What an identity provider told of people.

use artel_model::access::KnownTeams;
use tokio::task::JoinSet;

use super::catalog_sample::SharedCatalog;
use super::sample::{WORKS, at, user};

fn known(teams: &[&str], millis: i64) -> KnownTeams {
    let teams = teams.iter().map(|team| team.parse().expect("a team's name"));
    KnownTeams { teams: teams.collect(), at: at(millis) }
}

/// What was told last is known, and what comes late changes nothing.
pub async fn the_last_word_about_teams_counts(store: SharedCatalog) {
    let (ann, bob) = (user("ann"), user("Böb '; DROP TABLE people; -- <bob@example.org>"));
    assert_eq!(store.known_teams(&ann).await.expect(WORKS), None);
    store.remember_teams(&ann, &known(&["blue", "/eng/red"], 10)).await.expect(WORKS);
    assert_eq!(store.known_teams(&ann).await.expect(WORKS), Some(known(&["/eng/red", "blue"], 10)));
    assert_eq!(store.known_teams(&bob).await.expect(WORKS), None);
    store.remember_teams(&bob, &known(&["'\"\\"], 20)).await.expect(WORKS);
    store.remember_teams(&ann, &known(&[], 30)).await.expect(WORKS);
    store.remember_teams(&ann, &known(&["blue"], 29)).await.expect(WORKS);
    assert_eq!(store.known_teams(&ann).await.expect(WORKS), Some(known(&[], 30)));
    assert_eq!(store.known_teams(&bob).await.expect(WORKS), Some(known(&["'\"\\"], 20)));
    store.remember_teams(&ann, &known(&["green"], 30)).await.expect(WORKS);
    assert_eq!(store.known_teams(&ann).await.expect(WORKS), Some(known(&["green"], 30)));
}

/// Of many who tell at once, the last moment wins.
pub async fn the_last_of_many_words_about_teams_wins(store: SharedCatalog) {
    let mut tasks = JoinSet::new();
    for moment in 0..16 {
        let store = store.clone();
        tasks.spawn(async move {
            let name = format!("team{moment}");
            store.remember_teams(&user("ann"), &known(&[&name], moment)).await.expect(WORKS);
        });
    }
    while let Some(told) = tasks.join_next().await {
        told.expect(WORKS);
    }
    assert_eq!(store.known_teams(&user("ann")).await.expect(WORKS), Some(known(&["team15"], 15)));
}
