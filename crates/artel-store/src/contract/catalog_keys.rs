//! API keys, and the token of the first administrator.

use artel_model::catalog::ApiKey;
use tokio::task::JoinSet;

use super::catalog_sample::{HOSTILE, MANY, SharedCatalog, all_pages, api_key};
use super::sample::{WORKS, at, user};

async fn create(store: &SharedCatalog, key: &ApiKey) {
    assert!(store.create_key(key, MANY).await.expect(WORKS));
}

async fn listed(store: &SharedCatalog, owner: Option<&str>, limit: usize) -> Vec<String> {
    let owner = owner.map(user);
    let keys = all_pages(limit, async |page| store.keys(owner.as_ref(), &page).await).await;
    keys.into_iter().map(|key| key.key_id).collect()
}

/// A key comes back as it was made, whatever is written in it, and its id is taken.
pub async fn a_key_is_kept_whole(store: SharedCatalog) {
    assert_eq!(store.key("one").await.expect(WORKS), None);
    let one = ApiKey { expires_at: Some(at(99)), ..api_key("one", "ann", 10) };
    create(&store, &one).await;
    let odd = api_key(HOSTILE, "Böb <bob@example.org>", 10);
    create(&store, &odd).await;
    assert!(!store.create_key(&api_key("one", "eve", 20), MANY).await.expect(WORKS));
    assert_eq!(store.key("one").await.expect(WORKS), Some(one));
    assert_eq!(store.key(HOSTILE).await.expect(WORKS), Some(odd));
    assert_eq!(store.key("ONE").await.expect(WORKS), None);
    assert_eq!(listed(&store, Some("eve"), 9).await, Vec::<String>::new());
}

/// A key that was revoked stays so since then, whatever is done to it later.
pub async fn a_revoked_key_stays_revoked(store: SharedCatalog) {
    create(&store, &api_key("one", "ann", 10)).await;
    assert!(!store.revoke_key("two", at(20)).await.expect(WORKS));
    for moment in [20, 15, 30] {
        assert!(store.revoke_key("one", at(moment)).await.expect(WORKS));
    }
    for moment in [40, 50, 45] {
        store.touch_key("one", at(moment)).await.expect(WORKS);
    }
    store.touch_key("two", at(40)).await.expect(WORKS);
    assert!(!store.create_key(&api_key("one", "ann", 60), MANY).await.expect(WORKS));
    let kept = store.key("one").await.expect(WORKS);
    let (revoked_at, last_used_at) = (Some(at(20)), Some(at(50)));
    let expected = ApiKey { revoked_at, last_used_at, ..api_key("one", "ann", 10) };
    assert_eq!(kept, Some(expected.clone()));
    let page = crate::PageRequest { after: None, limit: 9 };
    assert_eq!(store.keys(None, &page).await.expect(WORKS).items, [expected]);
    assert_eq!(store.key("two").await.expect(WORKS), None);
}

/// Keys are listed the last made first, of one owner or of all, and pages of any size agree.
pub async fn keys_are_listed_in_pages(store: SharedCatalog) {
    let made = [("z", "ann", 10), ("a", "bob", 30), ("m", "ann", 20), ("n", "bob", 20), ("b", "ann", 20)];
    for (key_id, owner, millis) in made {
        create(&store, &api_key(key_id, owner, millis)).await;
    }
    for limit in 1..=6 {
        assert_eq!(listed(&store, None, limit).await, ["a", "b", "n", "m", "z"], "pages of {limit}");
        assert_eq!(listed(&store, Some("ann"), limit).await, ["b", "m", "z"], "pages of {limit}");
        assert_eq!(listed(&store, Some("bob"), limit).await, ["a", "n"], "pages of {limit}");
    }
}

/// Nobody has more good keys than they may, also when many are made at once; revoked and expired ones do not count.
pub async fn keys_of_an_owner_are_limited(store: SharedCatalog) {
    let mut tasks = JoinSet::new();
    for number in 0..12 {
        let store = store.clone();
        let key = api_key(&format!("key {number}"), "ann", 10);
        tasks.spawn(async move { store.create_key(&key, 4).await.expect(WORKS) });
    }
    let kept = tasks.join_all().await.into_iter().filter(|is_kept| *is_kept).count();
    assert_eq!((kept, listed(&store, Some("ann"), 5).await.len()), (4, 4));
    assert!(store.create_key(&api_key("bob's", "bob", 10), 4).await.expect(WORKS));
    let first = listed(&store, Some("ann"), 9).await.remove(0);
    assert!(store.revoke_key(&first, at(20)).await.expect(WORKS));
    let brief = ApiKey { expires_at: Some(at(40)), ..api_key("brief", "ann", 30) };
    assert!(store.create_key(&brief, 4).await.expect(WORKS));
    assert!(!store.create_key(&api_key("early", "ann", 39), 4).await.expect(WORKS));
    assert!(store.create_key(&api_key("late", "ann", 40), 4).await.expect(WORKS));
}

/// The first hash of the administrator's token stays until it is replaced on purpose.
pub async fn the_administrators_token_is_kept(store: SharedCatalog) {
    assert_eq!(store.admin_token_hash().await.expect(WORKS), None);
    assert_eq!(store.first_admin_token_hash("first").await.expect(WORKS), "first");
    assert_eq!(store.first_admin_token_hash("second").await.expect(WORKS), "first");
    store.set_admin_token_hash("third").await.expect(WORKS);
    assert_eq!(store.first_admin_token_hash("second").await.expect(WORKS), "third");
    assert_eq!(store.admin_token_hash().await.expect(WORKS), Some("third".to_owned()));
}

/// Of several nodes that start at once, one makes the token, and all are told which.
pub async fn one_of_many_first_tokens_wins(store: SharedCatalog) {
    let mut tasks = JoinSet::new();
    for number in 0..12 {
        let store = store.clone();
        let hash = format!("hash {number}");
        tasks.spawn(async move { store.first_admin_token_hash(&hash).await.expect(WORKS) });
    }
    let mut answers = tasks.join_all().await;
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(store.admin_token_hash().await.expect(WORKS).as_ref(), answers.first());
}
