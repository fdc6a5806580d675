//! Registered hubs: order, locations and what came of fetching them.

use artel_model::catalog::{Hub, HubKind, HubStatus};
use tokio::task::JoinSet;

use super::catalog_sample::{HOSTILE, MANY, SharedCatalog, hub_id, new_hub};
use super::sample::{WORKS, at, user};
use crate::hub::HubRefused;

async fn create(store: &SharedCatalog, hub: &Hub) -> u64 {
    store.create_hub(hub, MANY).await.expect(WORKS).expect("nothing is in its way")
}

async fn numbers(store: &SharedCatalog) -> Vec<u128> {
    store.hubs().await.expect(WORKS).iter().map(|hub| hub.id.0.as_u128()).collect()
}

fn fetched() -> HubStatus {
    HubStatus {
        last_success_at: Some(at(100)),
        last_failure_at: Some(at(200)),
        last_failure_message: Some(HOSTILE.to_owned()),
        revision: Some("0123abcd".to_owned()),
        content: Some("0123abcd-ef".to_owned()),
        skills_count: 12,
        warnings: vec![HOSTILE.to_owned()],
    }
}

/// A hub comes back as it was said, behind all others; what is changed is what somebody says of it, and nothing else.
pub async fn a_hub_is_kept_and_changed(store: SharedCatalog) {
    assert_eq!(store.hub(hub_id(1)).await.expect(WORKS), None);
    let hub = Hub { location: HOSTILE.to_owned(), position: 99, ..new_hub(1) };
    let position = create(&store, &hub).await;
    let kept = Hub { position, ..hub };
    assert_eq!(store.hub(hub_id(1)).await.expect(WORKS), Some(kept.clone()));
    store.set_hub_status(hub_id(1), &fetched()).await.expect(WORKS);
    store.set_hub_status(hub_id(2), &fetched()).await.expect(WORKS);
    let other = Hub {
        kind: HubKind::WellKnown,
        location: "https://example.org".to_owned(),
        reference: None,
        include_paths: Vec::new(),
        is_enabled: false,
        credentials_ref: None,
        updated_at: at(50),
        ..kept
    };
    let said = Hub { position: 7, status: HubStatus::default(), ..other.clone() };
    assert_eq!(store.update_hub(&said).await.expect(WORKS), Ok(()));
    let kept = Hub { status: fetched(), ..other };
    assert_eq!(store.hub(hub_id(1)).await.expect(WORKS), Some(kept.clone()));
    assert_eq!(store.hubs().await.expect(WORKS), [kept]);
    assert_eq!(store.update_hub(&new_hub(3)).await.expect(WORKS), Err(HubRefused::Unknown));
    assert!(store.delete_hub(hub_id(1)).await.expect(WORKS));
    assert!(!store.delete_hub(hub_id(1)).await.expect(WORKS));
    assert_eq!(store.hub(hub_id(1)).await.expect(WORKS), None);
    assert_eq!(store.update_hub(&new_hub(1)).await.expect(WORKS), Err(HubRefused::Unknown));
}

/// Two hubs never have the same kind and location, and who is in the way is told.
pub async fn the_same_location_is_refused(store: SharedCatalog) {
    let one = Hub { created_by: user("bob"), ..new_hub(1) };
    create(&store, &one).await;
    create(&store, &new_hub(2)).await;
    let same = Hub { id: hub_id(3), ..new_hub(1) };
    let in_the_way = Err(HubRefused::SameLocation(hub_id(1)));
    assert_eq!(store.create_hub(&same, MANY).await.expect(WORKS), in_the_way);
    // That is told rather than that there are too many.
    assert_eq!(store.create_hub(&same, 0).await.expect(WORKS), in_the_way);
    let of_another_kind = Hub { kind: HubKind::Github, ..same };
    create(&store, &of_another_kind).await;
    let moved = Hub { location: new_hub(1).location, ..new_hub(2) };
    let refused = store.update_hub(&moved).await.expect(WORKS);
    assert_eq!(refused, Err(HubRefused::SameLocation(hub_id(1))));
    assert_eq!(store.update_hub(&one).await.expect(WORKS), Ok(()));
    // Room that somebody leaves can be taken.
    assert!(store.delete_hub(hub_id(1)).await.expect(WORKS));
    assert_eq!(store.update_hub(&moved).await.expect(WORKS), Ok(()));
    assert_eq!(numbers(&store).await, [2, 3]);
    let same_id = Hub { location: "elsewhere".to_owned(), ..new_hub(2) };
    let refused = store.create_hub(&same_id, MANY).await.expect(WORKS);
    assert_eq!(refused, Err(HubRefused::SameLocation(hub_id(2))));
}

/// Who was registered later stands behind, also when those before are gone.
pub async fn positions_grow_for_ever(store: SharedCatalog) {
    let mut last = 0;
    for number in (1..=6).rev() {
        let position = create(&store, &new_hub(number)).await;
        assert!(position > last, "{position} is behind {last}");
        last = position;
    }
    assert_eq!(numbers(&store).await, [6, 5, 4, 3, 2, 1]);
    for number in [1, 2, 5] {
        assert!(store.delete_hub(hub_id(number)).await.expect(WORKS));
    }
    assert!(create(&store, &new_hub(5)).await > last);
    assert!(create(&store, &new_hub(7)).await > last);
    assert_eq!(numbers(&store).await, [6, 4, 3, 5, 7]);
}

/// There are no more hubs than there may be, and each location once, also when many are registered at once.
pub async fn hubs_are_limited(store: SharedCatalog) {
    let mut tasks = JoinSet::new();
    for number in 0..16 {
        let store = store.clone();
        let hub = Hub { id: hub_id(number), ..new_hub(number / 2) };
        tasks.spawn(async move { store.create_hub(&hub, 5).await.expect(WORKS) });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 5, "{answers:?}");
    let hubs = store.hubs().await.expect(WORKS);
    let mut locations: Vec<&String> = hubs.iter().map(|hub| &hub.location).collect();
    locations.sort_unstable();
    locations.dedup();
    assert_eq!((hubs.len(), locations.len()), (5, 5));
    assert_eq!(store.create_hub(&new_hub(99), 5).await.expect(WORKS), Err(HubRefused::TooMany));
    assert!(store.delete_hub(hubs[0].id).await.expect(WORKS));
    assert!(store.create_hub(&new_hub(99), 5).await.expect(WORKS).is_ok());
}
