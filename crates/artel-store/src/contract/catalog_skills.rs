//! Skills that people saved: revisions, conflicts, files and history.

use artel_model::catalog::{CustomFile, CustomSkill, SkillChange, Visibility};
use tokio::task::JoinSet;

use super::catalog_sample::{
    HOSTILE, MANY, SharedCatalog, all_pages, custom_id, custom_skill, file, saved_again,
};
use super::sample::{WORKS, at, user};
use crate::custom::SaveRefused;

async fn create(store: &SharedCatalog, skill: &CustomSkill) {
    assert_eq!(store.create_skill(skill, MANY).await.expect(WORKS), Ok(()));
}

async fn read(store: &SharedCatalog, number: u128) -> Option<CustomSkill> {
    store.custom_skill(custom_id(number)).await.expect(WORKS)
}

async fn history(store: &SharedCatalog, number: u128, limit: usize) -> Vec<SkillChange> {
    all_pages(limit, async |page| store.skill_history(custom_id(number), &page).await).await
}

/// What was saved comes back whole, with its files, and nothing else does.
pub async fn a_skill_is_kept_whole(store: SharedCatalog) {
    assert_eq!(read(&store, 1).await, None);
    assert_eq!(store.custom_skills().await.expect(WORKS), []);
    let team = Visibility::Team { team_ids: [("red".parse().expect("a team"))].into() };
    let skill = CustomSkill { visibility: team, ..custom_skill(1, 10) };
    create(&store, &skill).await;
    let personal = Visibility::Personal { owner_user_id: user("ann") };
    let bare = CustomSkill { visibility: personal, title: None, files: Vec::new(), ..custom_skill(2, 10) };
    create(&store, &bare).await;
    assert_eq!(read(&store, 1).await, Some(skill.clone()));
    assert_eq!(read(&store, 2).await, Some(bare));
    assert_eq!(read(&store, 3).await, None);
    let first = SkillChange { id: skill.id, revision: 1, at: at(10), by: user("ann"), saved: Some(skill) };
    assert_eq!(history(&store, 1, 9).await, [first]);
    assert_eq!(history(&store, 3, 9).await, []);
}

/// Files hold any bytes and any number of them; the same bytes may lie in many places.
pub async fn files_hold_any_bytes(store: SharedCatalog) {
    let all_bytes: Vec<u8> = (0..=255).collect();
    let mebibyte: Vec<u8> = all_bytes.iter().copied().cycle().take(1 << 20).collect();
    let files = vec![
        file("b/large.bin", &mebibyte),
        file("a/copy.bin", &mebibyte),
        file("empty", b""),
        file("also-empty", b""),
        file("nul", b"\0\0\xff\xfe\0"),
        file("ünïcode/\u{1f600}", HOSTILE.as_bytes()),
        CustomFile { is_executable: true, ..file("all", &all_bytes) },
    ];
    let skill = CustomSkill { files: files.clone(), ..custom_skill(1, 10) };
    create(&store, &skill).await;
    create(&store, &CustomSkill { files: files.clone(), ..custom_skill(2, 10) }).await;
    let fewer = CustomSkill { files: files[1..3].to_vec(), ..saved_again(1, 2, 20) };
    assert_eq!(store.update_skill(1, &fewer).await.expect(WORKS), Ok(()));
    assert_eq!(read(&store, 1).await.map(|skill| skill.files), Some(files[1..3].to_vec()));
    assert_eq!(read(&store, 2).await.map(|skill| skill.files), Some(files));
    let changes = history(&store, 1, 1).await;
    assert_eq!(
        changes.into_iter().map(|change| change.saved).collect::<Vec<_>>(),
        [Some(fewer), Some(skill)]
    );
}

/// Who did not see the last revision changes nothing.
pub async fn a_skill_changes_only_from_its_last_revision(store: SharedCatalog) {
    create(&store, &custom_skill(1, 10)).await;
    let refused = store.create_skill(&custom_skill(1, 30), MANY).await.expect(WORKS);
    assert_eq!(refused, Err(SaveRefused::Exists));
    let unknown = store.update_skill(1, &saved_again(2, 2, 20)).await.expect(WORKS);
    assert_eq!(unknown, Err(SaveRefused::Unknown));
    // The number is the store's to say.
    let second = saved_again(1, 2, 20);
    let misnumbered = CustomSkill { revision: 77, ..second.clone() };
    assert_eq!(store.update_skill(1, &misnumbered).await.expect(WORKS), Ok(()));
    assert_eq!(read(&store, 1).await, Some(second.clone()));
    for expected in [0, 1, 3, u64::MAX] {
        let late = store.update_skill(expected, &saved_again(1, 9, 30)).await.expect(WORKS);
        assert_eq!(late, Err(SaveRefused::Conflict { actual: 2 }), "{expected}");
        let late = store.delete_skill(custom_id(1), Some(expected), &user("bob"), at(30)).await.expect(WORKS);
        assert_eq!(late, Err(SaveRefused::Conflict { actual: 2 }), "{expected}");
    }
    assert_eq!(read(&store, 1).await, Some(second));
    assert_eq!(history(&store, 1, 9).await.len(), 2);
}

/// A skill that was deleted is gone from every list but its history, and its id is not used again.
pub async fn deletion_keeps_the_history(store: SharedCatalog) {
    create(&store, &custom_skill(1, 10)).await;
    assert_eq!(store.update_skill(1, &saved_again(1, 2, 20)).await.expect(WORKS), Ok(()));
    let delete = async |number: u128, expected: Option<u64>| {
        store.delete_skill(custom_id(number), expected, &user("eve"), at(30)).await.expect(WORKS)
    };
    assert_eq!(delete(1, Some(2)).await, Ok(()));
    assert_eq!(delete(1, None).await, Err(SaveRefused::Unknown));
    assert_eq!(delete(1, Some(3)).await, Err(SaveRefused::Unknown));
    assert_eq!(delete(2, None).await, Err(SaveRefused::Unknown));
    assert_eq!(read(&store, 1).await, None);
    assert_eq!(store.custom_skills().await.expect(WORKS), []);
    let late = store.update_skill(3, &saved_again(1, 4, 40)).await.expect(WORKS);
    assert_eq!(late, Err(SaveRefused::Unknown));
    let again = store.create_skill(&custom_skill(1, 50), MANY).await.expect(WORKS);
    assert_eq!(again, Err(SaveRefused::Exists));
    let gone = SkillChange { id: custom_id(1), revision: 3, at: at(30), by: user("eve"), saved: None };
    for limit in [1, 2, 9] {
        let changes = history(&store, 1, limit).await;
        let revisions: Vec<u64> = changes.iter().map(|change| change.revision).collect();
        assert_eq!(revisions, [3, 2, 1], "pages of {limit}");
        assert_eq!(changes[0], gone);
        assert_eq!(changes[1].saved, Some(saved_again(1, 2, 20)));
        assert_eq!(changes[2].saved, Some(custom_skill(1, 10)));
    }
    create(&store, &custom_skill(2, 10)).await;
    assert_eq!(delete(2, None).await, Ok(()));
}

/// Skills are listed by the time they were made and their ids, in their last revision.
pub async fn skills_are_listed_in_the_order_they_were_made(store: SharedCatalog) {
    for (number, millis) in [(5, 20), (1, 30), (u128::MAX, 20), (2, -5), (7, 10)] {
        create(&store, &custom_skill(number, millis)).await;
    }
    let other = CustomSkill { created_at: at(20), ..saved_again(5, 2, 99) };
    assert_eq!(store.update_skill(1, &other).await.expect(WORKS), Ok(()));
    store.delete_skill(custom_id(7), None, &user("ann"), at(50)).await.expect(WORKS).expect("it was there");
    let listed = |number: u128, revision: u64, hash: &str| (custom_id(number), revision, hash.to_owned());
    assert_eq!(
        store.custom_skills().await.expect(WORKS),
        [
            listed(2, 1, "hash 2"),
            listed(5, 2, "hash 5 of revision 2"),
            listed(u128::MAX, 1, &format!("hash {}", u128::MAX)),
            listed(1, 1, "hash 1"),
        ]
    );
}

/// There are no more skills than there may be, also when many are saved at once; room that is made can be used.
pub async fn skills_are_limited(store: SharedCatalog) {
    let mut tasks = JoinSet::new();
    for number in 1..=12 {
        let store = store.clone();
        tasks.spawn(async move { store.create_skill(&custom_skill(number, 10), 5).await.expect(WORKS) });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5);
    assert!(answers.iter().all(|answer| matches!(answer, Ok(()) | Err(SaveRefused::TooMany))), "{answers:?}");
    let kept = store.custom_skills().await.expect(WORKS);
    assert_eq!(kept.len(), 5);
    let exists = store.create_skill(&CustomSkill { id: kept[0].0, ..custom_skill(1, 10) }, 5).await;
    assert_eq!(exists.expect(WORKS), Err(SaveRefused::Exists));
    store.delete_skill(kept[0].0, None, &user("ann"), at(20)).await.expect(WORKS).expect("it was there");
    assert_eq!(store.create_skill(&custom_skill(100, 10), 5).await.expect(WORKS), Ok(()));
    assert_eq!(store.create_skill(&custom_skill(101, 10), 5).await.expect(WORKS), Err(SaveRefused::TooMany));
}

/// Of many who save the same revision, one wins, and the others are told.
pub async fn one_of_many_saves_wins(store: SharedCatalog) {
    create(&store, &custom_skill(1, 10)).await;
    for revision in 1..=5 {
        let mut tasks = JoinSet::new();
        for number in 0..8 {
            let store = store.clone();
            let content = format!("by {number} as {revision}");
            tasks.spawn(async move {
                let skill = CustomSkill { content: content.clone(), ..saved_again(1, 0, 20) };
                store.update_skill(revision, &skill).await.expect(WORKS).map(|()| content)
            });
        }
        let answers = tasks.join_all().await;
        let won: Vec<&String> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
        let actual = revision + 1;
        let lost = answers.iter().filter(|answer| **answer == Err(SaveRefused::Conflict { actual })).count();
        assert_eq!((won.len(), lost), (1, 7), "{answers:?}");
        assert_eq!(read(&store, 1).await.map(|skill| skill.content).as_ref(), Some(won[0]));
    }
    assert_eq!(history(&store, 1, 4).await.len(), 6);
}
