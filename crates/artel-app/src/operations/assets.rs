//! Files that runs made, for whoever the run belongs to.

use artel_model::access::Principal;
use artel_model::id::RunId;
use artel_model::run::AssetRecord;
use camino::Utf8PathBuf;

use super::runs::read_run;
use crate::app::App;
use crate::error::OperationError;

/// Returns a file that a run made, and where it is kept. It is named by its path, its id or its hash; when several have the
/// name, the last one is meant.
pub async fn run_asset(
    app: &App,
    caller: &Principal,
    run: RunId,
    name: &str,
) -> Result<(AssetRecord, Utf8PathBuf), OperationError> {
    let unknown = || OperationError::not_found("file");
    let assets = read_run(app, caller, run).await?.assets;
    let asset = named(assets, name).ok_or_else(unknown)?;
    let path = app.artifact_dirs().assets.path(&asset.hash).ok_or_else(unknown)?;
    Ok((asset, path))
}

fn named(assets: Vec<AssetRecord>, name: &str) -> Option<AssetRecord> {
    let is_path = |asset: &AssetRecord| asset.path == name || asset.path.trim_start_matches('/') == name;
    let ways: [&dyn Fn(&AssetRecord) -> bool; 3] =
        [&|asset| asset.hash == name, &is_path, &|asset| asset.asset_id == name];
    ways.into_iter().find_map(|is_meant| assets.iter().rfind(|asset| is_meant(asset)).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asset(path: &str, id: &str, hash: &str) -> AssetRecord {
        AssetRecord {
            asset_id: id.to_owned(),
            kind: "file".to_owned(),
            media_type: "text/plain".to_owned(),
            hash: hash.to_owned(),
            size: 1,
            path: path.to_owned(),
            metadata: None,
        }
    }

    #[test]
    fn the_last_of_a_name_is_meant() {
        let assets =
            vec![asset("a.txt", "one", "h1"), asset("a.txt", "two", "h2"), asset("/x/b", "a.txt", "h3")];
        let check = |name: &str, hash: Option<&str>| {
            assert_eq!(named(assets.clone(), name).map(|asset| asset.hash).as_deref(), hash, "{name}");
        };
        check("a.txt", Some("h2"));
        check("h1", Some("h1"));
        check("one", Some("h1"));
        check("x/b", Some("h3"));
        check("b", None);
    }
}
