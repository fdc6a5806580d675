//! What is served while the store of saved skills does not answer: never an empty catalog, and nothing of the store's own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use artel_model::access::UserId;
use artel_model::catalog::{CustomSkill, Gate, SkillChange};
use artel_model::id::CustomSkillId;
use artel_model::time::Timestamp;
use artel_store::{CustomSkillStore, Page, PageRequest, SaveRefused, StoreError};
use async_trait::async_trait;
use serde_json::{Value, json};

use crate::skills_place::{Shop, instructions, names, skill_path};

/// What the store says of itself, and nobody else is to know.
const INSIDE: &str = "db.internal:5432";

/// A store that answers, or does not.
struct Moody {
    store: Arc<dyn CustomSkillStore>,
    fails: Arc<AtomicBool>,
}

impl Moody {
    fn store(&self) -> Result<&dyn CustomSkillStore, StoreError> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(StoreError::Unavailable { what: INSIDE.to_owned(), source: INSIDE.into() });
        }
        Ok(&*self.store)
    }
}

#[async_trait]
impl CustomSkillStore for Moody {
    async fn create_skill(
        &self,
        skill: &CustomSkill,
        skills_max: u64,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        self.store()?.create_skill(skill, skills_max).await
    }

    async fn update_skill(
        &self,
        expected: u64,
        skill: &CustomSkill,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        self.store()?.update_skill(expected, skill).await
    }

    async fn delete_skill(
        &self,
        id: CustomSkillId,
        expected: Option<u64>,
        by: &UserId,
        at: Timestamp,
    ) -> Result<Result<(), SaveRefused>, StoreError> {
        self.store()?.delete_skill(id, expected, by, at).await
    }

    async fn custom_skill(&self, id: CustomSkillId) -> Result<Option<CustomSkill>, StoreError> {
        self.store()?.custom_skill(id).await
    }

    async fn custom_skills(&self) -> Result<Vec<(CustomSkillId, u64, String)>, StoreError> {
        self.store()?.custom_skills().await
    }

    async fn skill_history(
        &self,
        id: CustomSkillId,
        page: &PageRequest,
    ) -> Result<Page<SkillChange>, StoreError> {
        self.store()?.skill_history(id, page).await
    }
}

/// Opens a server whose store of saved skills fails when it is told to.
async fn shop(skills: &[(&str, &str)]) -> (Shop, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(false));
    let moody = fails.clone();
    let shop = Shop::unread_with(Gate::Warn, skills, |stores| {
        stores.skills = Arc::new(Moody { store: stores.skills.clone(), fails: moody });
    })
    .await;
    (shop, fails)
}

fn draft() -> Value {
    json!({"name": "pear", "description": "Pears.", "content": "Pick."})
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_saved_is_served_while_the_store_does_not_answer() {
    let (shop, fails) = shop(&[("apple/SKILL.md", &instructions("apple", "Peels.", "Cut."))]).await;
    shop.refresh().await;
    let made = shop.admin.post("/api/skills", draft()).await.expect(201);
    let path = skill_path(made["id"].as_str().unwrap());
    fails.store(true, Ordering::SeqCst);
    shop.refresh().await;
    let list = shop.admin.get("/api/skills").await.expect(200);
    assert_eq!(names(&list), ["apple", "pear"]);
    let source = &list["meta"]["unavailable_sources"][0];
    assert_eq!((&source["source"], &source["state"]), (&json!("agent_skills"), &json!("stale")));
    assert_eq!(source["reason"], "the store does not answer");
    assert_eq!(shop.admin.get(&path).await.status, 200);
    for answer in [
        shop.admin.post("/api/skills", draft()).await,
        shop.admin.call("PUT", &path, &[], Some(&draft())).await,
        shop.admin.call("DELETE", &path, &[], None).await,
        shop.admin.get(&format!("{path}/history")).await,
    ] {
        answer.refused(503, "store_unavailable");
        assert!(!answer.text.contains(INSIDE), "{}", answer.text);
    }
    fails.store(false, Ordering::SeqCst);
    shop.refresh().await;
    let list = shop.admin.get("/api/skills").await.expect(200);
    assert_eq!((names(&list), &list["meta"]["unavailable_sources"]), (vec!["apple", "pear"], &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_never_answered_is_not_an_empty_catalog() {
    let (shop, fails) = shop(&[]).await;
    fails.store(true, Ordering::SeqCst);
    shop.refresh().await;
    shop.admin.get("/api/skills").await.refused(503, "skills_unavailable");
    fails.store(false, Ordering::SeqCst);
    shop.refresh().await;
    let list = shop.admin.get("/api/skills").await.expect(200);
    assert_eq!(
        (names(&list), list["meta"].get("message")),
        (Vec::new(), None),
        "it is empty, and nothing was asked"
    );
}
