//! The skills that a server offers, as a catalog: listed there, copied here, and checked on the way.

use std::collections::BTreeSet;

use artel_api::client::{ApiPath, Client};
use artel_api::operator::{BundleRequest, SkillSwitches, SwitchedOff, Whoami};
use artel_api::skills::{SkillEntry, SkillFile, SkillList, SkillQuery};
use artel_catalog::mirror::{Mirror, MirrorError, Offer, read_bundle};
use artel_catalog::shared::EntryFile;
use artel_catalog::{Catalog, Keep, file_hash};
use artel_model::access::Scope;
use artel_model::limit::{BUNDLE_BYTES_MAX, BUNDLE_SKILLS_MAX, SKILL_BYTES_MAX};
use artel_model::name::SkillName;
use camino::Utf8PathBuf;

use crate::command::Context;
use crate::config::RemoteSettings;
use crate::failure::{Failure, chain, refused};
use crate::runtime::wait_for;

/// The folder of copies, inside the data folder.
const MIRROR: &str = "mirror";
/// Skills on one page of the list.
const PAGE: u32 = 200;
/// How often the list is read again because the catalog changes meanwhile.
const TRIES_MAX: usize = 5;
/// Bytes of one bundle: all that fits, and the one skill that always does.
const BUNDLE_MAX: usize = BUNDLE_BYTES_MAX + SKILL_BYTES_MAX as usize;

/// Everything that is offered, and what of it is switched off.
struct Offers {
    offers: Vec<Offer>,
    disabled: BTreeSet<SkillName>,
    generation: u64,
}

/// Loads the catalog of a server. Only what is not here already is fetched.
pub(crate) fn offered_catalog(
    context: Context<'_>,
    remote: &RemoteSettings,
    keep: Keep,
) -> Result<Catalog, Failure> {
    let mut mirror = Mirror::open(&folder(context, remote)).map_err(|error| unkept(&error))?;
    let Offers { offers, disabled, .. } = wait_for(async {
        let client = context.client_of(remote)?;
        for _ in 0..TRIES_MAX {
            let offers = offers(&client).await?;
            if fetch(&client, &mirror, &offers.offers).await? {
                return Ok(offers);
            }
        }
        Err(Failure::missing("the server's skills change faster than they can be fetched").hint("try again"))
    })?;
    mirror.tidy(&offers).map_err(|error| unkept(&error))?;
    mirror.catalog(offers, disabled, keep).map_err(|error| unkept(&error))
}

/// Returns the number of the catalog that a server offers; it is another one when something has changed.
pub(crate) async fn generation(client: &Client) -> Result<u64, Failure> {
    let query = SkillQuery { page_size: Some(1), ..SkillQuery::default() };
    let list: SkillList =
        client.ask(&ApiPath::new("/api/skills"), &query).await.map_err(|error| refused(&error))?;
    Ok(list.meta.generation)
}

/// What somebody may see is not mixed with what somebody else may.
fn folder(context: Context<'_>, remote: &RemoteSettings) -> Utf8PathBuf {
    let token = remote.token.as_ref().map(artel_api::client::ServerToken::secret).unwrap_or_default();
    let whose = file_hash(format!("{}\n{token}", remote.server).as_bytes()).to_string();
    context.config.data.value.join(MIRROR).join(whose.trim_start_matches("sha256:"))
}

async fn offers(client: &Client) -> Result<Offers, Failure> {
    let mut tries = 0;
    loop {
        tries += 1;
        if let Some(offers) = listed(client, tries == TRIES_MAX).await? {
            return with_switched_off(client, offers).await;
        }
    }
}

/// Reads the list, page by page; nothing when it changed meanwhile, unless that does not matter any more.
async fn listed(client: &Client, is_last: bool) -> Result<Option<Offers>, Failure> {
    let mut all = Offers { offers: Vec::new(), disabled: BTreeSet::new(), generation: 0 };
    let mut page = 1;
    loop {
        let query = SkillQuery { page: Some(page), page_size: Some(PAGE), ..SkillQuery::default() };
        let list: SkillList =
            client.ask(&ApiPath::new("/api/skills"), &query).await.map_err(|error| refused(&error))?;
        if page > 1 && list.meta.generation != all.generation && !is_last {
            return Ok(None);
        }
        all.generation = list.meta.generation;
        for entry in list.skills {
            let SkillEntry { id, name, content_hash, files, .. } = entry;
            all.offers.push(offer(&id, &name, &content_hash, files)?);
        }
        if !list.meta.has_more {
            return Ok(Some(all));
        }
        page += 1;
    }
}

/// Adds what is switched off, which only administrators see. Other callers do not ask for it: the server would log a
/// refused credential with every command.
async fn with_switched_off(client: &Client, mut offers: Offers) -> Result<Offers, Failure> {
    let who: Whoami = client.get(&ApiPath::new("/api/whoami")).await.map_err(|error| refused(&error))?;
    if !who.scopes.contains(&Scope::Admin) {
        return Ok(offers);
    }
    let switches = client.get::<SkillSwitches>(&ApiPath::new("/api/skill-switches")).await;
    let switches = switches.map_err(|error| refused(&error))?;
    for off in switches.off {
        let SwitchedOff { id, name, content_hash, files } = off;
        if !offers.offers.iter().any(|offer| offer.name == name) {
            offers.offers.push(offer(&id, name.as_str(), &content_hash, files)?);
            offers.disabled.insert(name);
        }
    }
    Ok(offers)
}

/// Fetches what is not here; says whether all of it was sent.
async fn fetch(client: &Client, mirror: &Mirror, offers: &[Offer]) -> Result<bool, Failure> {
    let mut missing: Vec<&Offer> = offers.iter().filter(|offer| !mirror.has(offer)).collect();
    while !missing.is_empty() {
        let rest = missing.split_off(missing.len().min(BUNDLE_SKILLS_MAX));
        let asked = std::mem::replace(&mut missing, rest);
        let request = BundleRequest { ids: asked.iter().map(|offer| offer.id.to_string()).collect() };
        let bytes = client.post_for_bytes(&ApiPath::new("/api/skills/bundle"), &request, BUNDLE_MAX).await;
        let skills = read_bundle(&bytes.map_err(|error| refused(&error))?)
            .map_err(|error| Failure::missing(format!("the server sent no bundle: {}", chain(&error))))?;
        let mut is_any_sent = false;
        for (place, offer) in asked.into_iter().enumerate() {
            match skills.get(&place) {
                Some(files) => {
                    mirror.keep(offer, files).map_err(|error| unkept(&error))?;
                    is_any_sent = true;
                }
                None => missing.push(offer),
            }
        }
        if !is_any_sent {
            return Ok(false);
        }
    }
    Ok(true)
}

fn offer(id: &str, name: &str, content_hash: &str, files: Vec<SkillFile>) -> Result<Offer, Failure> {
    let strange = || Failure::missing(format!("the server offers something that is no skill: `{id}`"));
    let file = |file: SkillFile| {
        let SkillFile { path, size, hash, is_executable, text: _, base64: _ } = file;
        Ok(EntryFile { path: path.into(), size, hash: hash.parse().map_err(|_| strange())?, is_executable })
    };
    Ok(Offer {
        id: id.parse().map_err(|_| strange())?,
        name: name.parse().map_err(|_| strange())?,
        content_hash: content_hash.parse().map_err(|_| strange())?,
        files: files.into_iter().map(file).collect::<Result<_, Failure>>()?,
    })
}

fn unkept(error: &MirrorError) -> Failure {
    let failure = Failure::unavailable(error);
    match error {
        MirrorError::Folder { .. } => failure.hint("copies of a server's skills are kept in the data folder"),
        MirrorError::Different { .. } => failure.hint("it was not kept; try again"),
    }
}
