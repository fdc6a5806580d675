//! Removing what programs of others worked in, once nobody knows of their agents any more.

use std::fs;

use artel_model::id::AgentId;
use artel_store::{AgentStore, StoreError};
use camino::{Utf8Path, Utf8PathBuf};

use super::folder::remove;

/// Removes the folders below `root` of agents that are gone, and returns how many that were. What is no folder of an agent
/// stays.
pub async fn prune_work_folders(root: &Utf8Path, agents: &dyn AgentStore) -> Result<usize, StoreError> {
    let mut removed = 0;
    // They are listed before the store is asked: an agent is kept before it has a folder, so none that comes meanwhile is
    // taken for one that is gone.
    for (agent, folder) in folders(root) {
        if agents.agent(agent).await?.is_none() && is_removed(folder).await {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns the folders of agents, by the agents' ids. Links are none.
fn folders(root: &Utf8Path) -> Vec<(AgentId, Utf8PathBuf)> {
    let entries = root.read_dir_utf8().into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let of_agents = folders.filter_map(|entry| Some((entry.file_name().parse().ok()?, entry.into_path())));
    let mut found: Vec<(AgentId, Utf8PathBuf)> = of_agents.collect();
    found.sort();
    found
}

async fn is_removed(folder: Utf8PathBuf) -> bool {
    let removing = tokio::task::spawn_blocking(move || {
        remove(&folder);
        fs::symlink_metadata(&folder).is_err()
    });
    removing.await.unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use artel_store::MemoryStore;
    use artel_store::contract::{agent_id, agent_record, new_agent};

    use super::*;

    #[tokio::test]
    async fn only_folders_of_agents_that_are_gone_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(place.path()).unwrap();
        let store = MemoryStore::new();
        store.create_agent(new_agent(agent_record(1, None, 10))).await.unwrap().unwrap();
        let [known, gone] = [1, 2].map(|number| root.join(agent_id(number).to_string()));
        for folder in [known.join("piece/work"), gone.join("piece/work"), root.join("other")] {
            fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(root.join("other"), root.join(agent_id(3).to_string())).unwrap();
        assert_eq!(prune_work_folders(root, &store).await.unwrap(), 1);
        assert!(known.exists() && !gone.exists() && root.join("other").exists());
        assert_eq!(prune_work_folders(root, &store).await.unwrap(), 0);
        assert_eq!(prune_work_folders(&root.join("nowhere"), &store).await.unwrap(), 0);
    }
}
