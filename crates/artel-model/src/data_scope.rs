//! Whose `data/` a script sees. Decides names of folders only; knows nothing of disks.

use std::collections::BTreeSet;
use std::fmt;

use camino::Utf8PathBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::access::{TeamId, UserId, Viewer};
use crate::id::RunId;
use crate::name::SkillName;

/// Hexadecimal digits of a hash in the name of a folder: 128 bits, so that no caller finds two names with one folder.
const HASH_DIGITS: usize = 32;
/// The folder of the data of runs, which goes when they end.
pub const RUNS_FOLDER: &str = "runs";

/// Who shares the data of a skill.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DataScope {
    /// The runs and agents of one owner.
    #[default]
    Principal,
    /// The steps of one run.
    Run,
    /// The members of one team.
    Team,
    /// Every caller; only when the operator grants it to this skill.
    Shared,
}

impl DataScope {
    /// Every scope, in the order of documents.
    pub const ALL: [Self; 4] = [Self::Principal, Self::Run, Self::Team, Self::Shared];

    /// Returns the word of the manifest.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Principal => "principal",
            Self::Run => "run",
            Self::Team => "team",
            Self::Shared => "shared",
        }
    }

    /// Returns the scope with this word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }

    /// Says whether data of this scope can be read by callers who did not write it.
    pub fn is_wider_than_one_owner(self) -> bool {
        match self {
            Self::Principal | Self::Run => false,
            Self::Team | Self::Shared => true,
        }
    }
}

impl fmt::Display for DataScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Which skill of which source: two skills of the same name from different sources keep different data and grants.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct SkillOrigin {
    /// The id in the catalog: `default/NAME`, `agent_skills/ID`, `hub/ID/NAME`.
    pub id: String,
    /// The teams that the skill was made for; none when it is for everyone or for one person.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub teams: BTreeSet<TeamId>,
}

impl SkillOrigin {
    /// Returns the origin of a skill in the operator's own folders, or in the binary.
    pub fn default_source(name: &SkillName) -> Self {
        Self { id: format!("default/{name}"), teams: BTreeSet::new() }
    }

    /// Says whether a grant means this skill. A bare name means the operator's own skill of that name, never one from
    /// another source.
    pub fn is_named_by(&self, grant: &str) -> bool {
        grant == self.id || self.id.strip_prefix("default/") == Some(grant)
    }
}

/// Who owns a run or an agent, as a folder and a counter know them. Without a viewer it is the local owner: the person who
/// has artel's data folder in hand.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct OwnerKey(String);

impl OwnerKey {
    /// The local owner.
    pub const LOCAL: &'static str = "local";

    /// Returns the key of an owner: the local one, or a hash, as names of users may hold anything and be of any length.
    pub fn of(user: Option<&UserId>) -> Self {
        match user {
            None => Self(Self::LOCAL.to_owned()),
            Some(user) => Self(format!("user-{}", hashed(user.as_str()))),
        }
    }

    /// Reads a key that was kept.
    pub fn kept(text: &str) -> Option<Self> {
        let is_hash = |hash: &str| hash.len() == HASH_DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        let is_key = text == Self::LOCAL || text.strip_prefix("user-").is_some_and(is_hash);
        is_key.then(|| Self(text.to_owned()))
    }

    /// Says whether it is the local owner.
    pub fn is_local(&self) -> bool {
        self.0 == Self::LOCAL
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// One attempt that needs a data folder.
#[derive(Clone, Copy, Debug)]
pub struct DataRequest<'a> {
    /// The skill.
    pub origin: &'a SkillOrigin,
    /// What its manifest asks for.
    pub scope: DataScope,
    /// The owner of the run; nothing for the local owner.
    pub owner: Option<&'a Viewer>,
    /// The run.
    pub run: RunId,
    /// Whether the operator lets this skill share its data with every caller.
    pub sharing: Sharing,
}

/// Whether the operator lets a skill share its data with every caller.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sharing {
    /// It may.
    Granted,
    /// It may not.
    NotGranted,
}

/// Says whether the operator's grants let a skill share its data.
pub fn sharing(origin: &SkillOrigin, grants: &[String]) -> Sharing {
    match grants.iter().any(|grant| origin.is_named_by(grant)) {
        true => Sharing::Granted,
        false => Sharing::NotGranted,
    }
}

/// Why a script gets no data folder, and so does not start.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum DataRefusal {
    /// The operator has not granted it.
    #[error(
        "skill `{0}` shares its data with every caller (`data_scope: \"shared\"`), which the operator has not \
         allowed: add `{0}` to `shared_data` in `[sandbox_grants]`"
    )]
    SharingNotGranted(String),
    /// The owner of the run is in no team, or in none of the skill's.
    #[error(
        "skill `{0}` keeps its data for a team (`data_scope: \"team\"`), and the owner of the run is in no team of it"
    )]
    NoTeam(String),
    /// The owner is in several, and nothing says which is meant.
    #[error(
        "skill `{skill}` keeps its data for a team (`data_scope: \"team\"`), and {} are possible: run it with an API \
         key of exactly one of them",
        listed(teams)
    )]
    SeveralTeams {
        /// The skill.
        skill: String,
        /// The teams.
        teams: Vec<TeamId>,
    },
}

fn listed(teams: &[TeamId]) -> String {
    teams.iter().map(|team| format!("`{team}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the folder of the data that one attempt sees, below the folder for all data of skills.
///
/// Two requests get the same folder exactly when they are meant to share: the same skill of the same source, and the same
/// owner, run or team, or everyone.
pub fn data_folder(request: &DataRequest<'_>) -> Result<Utf8PathBuf, DataRefusal> {
    let skill = skill_folder(request.origin);
    let owner = match request.scope {
        DataScope::Run => {
            return Ok(Utf8PathBuf::from(RUNS_FOLDER).join(request.run.to_string()).join(skill));
        }
        DataScope::Principal => owner_folder(request.owner),
        // One person is the only member of every team there.
        DataScope::Team if request.owner.is_none() => owner_folder(None),
        DataScope::Team => format!("team-{}", hashed(only_team(request)?.as_str())),
        DataScope::Shared => match request.sharing {
            Sharing::Granted => "shared".to_owned(),
            Sharing::NotGranted => {
                return Err(DataRefusal::SharingNotGranted(request.origin.id.clone()));
            }
        },
    };
    Ok(Utf8PathBuf::from(skill).join(owner))
}

fn owner_folder(owner: Option<&Viewer>) -> String {
    OwnerKey::of(owner.map(|viewer| &viewer.user)).0
}

/// Returns the team of the owner that is meant: the only one that the skill was made for, or the only one there is.
fn only_team<'a>(request: &DataRequest<'a>) -> Result<&'a TeamId, DataRefusal> {
    let (own, of_skill) = (request.owner.map(|viewer| &viewer.teams), &request.origin.teams);
    let is_meant = |team: &&TeamId| of_skill.is_empty() || of_skill.contains(*team);
    let teams: Vec<&TeamId> = own.into_iter().flatten().filter(is_meant).collect();
    match teams.as_slice() {
        [] => Err(DataRefusal::NoTeam(request.origin.id.clone())),
        [only] => Ok(only),
        several => Err(DataRefusal::SeveralTeams {
            skill: request.origin.id.clone(),
            teams: several.iter().map(|team| (*team).clone()).collect(),
        }),
    }
}

/// Returns the folder of one skill of one source: a name for people to read, and a hash that tells all of them apart.
pub fn skill_folder(origin: &SkillOrigin) -> String {
    let name = origin.id.rsplit('/').next().unwrap_or_default();
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || *c == '-';
    let readable: String = name.chars().filter(is_plain).take(64).collect();
    format!("{readable}-{}", hashed(&origin.id))
}

fn hashed(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let digits: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    digits[..HASH_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use uuid::Uuid;

    use super::*;

    fn viewer(user: &str, teams: &[&str]) -> Viewer {
        let teams = teams.iter().map(|team| team.parse().unwrap()).collect();
        Viewer { user: user.parse().unwrap(), teams }
    }

    fn origin(id: &str, teams: &[&str]) -> SkillOrigin {
        let teams = teams.iter().map(|team| team.parse().unwrap()).collect();
        SkillOrigin { id: id.to_owned(), teams }
    }

    fn place(origin: &SkillOrigin, scope: DataScope, owner: Option<&Viewer>, run: u128) -> String {
        let run = RunId(Uuid::from_u128(run));
        let request = DataRequest { origin, scope, owner, run, sharing: Sharing::Granted };
        data_folder(&request).unwrap().into_string()
    }

    #[test]
    fn one_owner_has_one_folder_for_each_skill_of_each_source() {
        use DataScope::Principal;
        let (ann, bob) = (viewer("ann", &[]), viewer("bob", &[]));
        let (own, hub) = (origin("default/memory", &[]), origin("hub/h1/memory", &[]));
        let places = [
            place(&own, Principal, None, 1),
            place(&own, Principal, Some(&ann), 1),
            place(&own, Principal, Some(&bob), 1),
            place(&own, Principal, Some(&viewer("local", &[])), 1),
            place(&hub, Principal, Some(&ann), 1),
            place(&own, DataScope::Run, Some(&ann), 1),
            place(&own, DataScope::Run, Some(&ann), 2),
            place(&own, DataScope::Shared, Some(&ann), 1),
        ];
        let different: BTreeSet<&String> = places.iter().collect();
        assert_eq!(different.len(), places.len(), "{places:#?}");
        assert_eq!(place(&own, Principal, Some(&ann), 1), place(&own, Principal, Some(&ann), 2));
        assert_eq!(place(&own, DataScope::Shared, Some(&ann), 1), place(&own, DataScope::Shared, None, 2));
    }

    #[test]
    fn sharing_needs_the_operators_grant_for_exactly_that_skill() {
        let own = origin("default/memory", &[]);
        let request = DataRequest {
            origin: &own,
            scope: DataScope::Shared,
            owner: None,
            run: RunId(Uuid::from_u128(1)),
            sharing: Sharing::NotGranted,
        };
        assert_eq!(data_folder(&request), Err(DataRefusal::SharingNotGranted("default/memory".to_owned())));
        assert!(own.is_named_by("memory") && own.is_named_by("default/memory"));
        let hub = origin("hub/h1/memory", &[]);
        assert!(hub.is_named_by("hub/h1/memory"));
        for grant in ["memory", "default/memory", "h1/memory", "hub/h2/memory", "*", ""] {
            assert!(!hub.is_named_by(grant), "{grant}");
        }
    }

    #[test]
    fn a_team_is_found_when_there_is_no_choice() {
        let check = |skill: &[&str], own: &[&str], expected: Result<&str, &str>| {
            let (origin, owner) = (origin("hub/h/notes", skill), viewer("ann", own));
            let request = DataRequest {
                origin: &origin,
                scope: DataScope::Team,
                owner: Some(&owner),
                run: RunId(Uuid::from_u128(1)),
                sharing: Sharing::NotGranted,
            };
            let found = data_folder(&request).map(|path| path.file_name().unwrap().to_owned());
            match (found, expected) {
                (Ok(found), Ok(team)) => assert_eq!(found, format!("team-{}", hashed(team))),
                (Err(refusal), Err(expected)) => assert!(refusal.to_string().contains(expected), "{refusal}"),
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        };
        check(&[], &["red"], Ok("red"));
        check(&["red"], &["red", "blue"], Ok("red"));
        check(&["red", "blue"], &["blue", "green"], Ok("blue"));
        check(&[], &[], Err("is in no team of it"));
        check(&["red"], &["blue"], Err("is in no team of it"));
        check(&[], &["red", "blue"], Err("`blue`, `red` are possible"));
    }

    #[test]
    fn words_and_scopes_are_the_same_thing() {
        for scope in DataScope::ALL {
            assert_eq!(DataScope::named(scope.as_str()), Some(scope));
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        }
        assert_eq!(DataScope::named("public"), None);
        assert_eq!(DataScope::default(), DataScope::Principal);
    }

    #[test]
    fn keys_are_read_again_and_nothing_else_is() {
        for user in [None, Some("ann".parse().unwrap())] {
            let key = OwnerKey::of(user.as_ref());
            assert_eq!(OwnerKey::kept(key.as_str()), Some(key));
        }
        for text in ["", "ann", "user-", "user-../../x", "team-0"] {
            assert_eq!(OwnerKey::kept(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_folder_and_no_two_share_one(
            ids in prop::collection::btree_set("\\PC{1,40}|(\\.\\.|/|hub|default|\\\\){1,6}", 1..6),
            users in prop::collection::btree_set("\\PC{1,40}|[./]{1,9}|user-[0-9a-f]{1,40}", 1..6),
        ) {
            let users: BTreeSet<UserId> = users.iter().filter_map(|user| user.parse().ok()).collect();
            let mut seen: BTreeMap<String, (String, UserId)> = BTreeMap::new();
            for id in &ids {
                for user in &users {
                    let (origin, owner) = (origin(id, &[]), Viewer { user: user.clone(), teams: [].into() });
                    let folder = place(&origin, DataScope::Principal, Some(&owner), 1);
                    let parts: Vec<&str> = folder.split('/').collect();
                    prop_assert_eq!(parts.len(), 2, "{}", &folder);
                    for part in parts {
                        prop_assert!(part.len() <= 100 && !part.starts_with('.'), "{}", part);
                    }
                    let before = seen.insert(folder, (id.clone(), user.clone()));
                    prop_assert_eq!(before, None);
                }
            }
        }
    }
}
