//! Who is calling, what they may do, and what they see. Knows nothing of tokens, keys or how they are checked.

mod admin_token;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::limit::IDENTITY_CHARS_MAX;
use crate::time::Timestamp;

pub use admin_token::{AdminToken, WeakToken};

/// Why a text names no user and no team.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum IdentityError {
    /// There is nothing.
    #[error("the name is empty")]
    Empty,
    /// More than [`IDENTITY_CHARS_MAX`] characters.
    #[error("the name has more than {IDENTITY_CHARS_MAX} characters")]
    TooLong,
    /// A character that nobody sees, or a space at an end.
    #[error("the name holds control characters, or spaces at its ends")]
    Character,
}

/// What [`identity`] accepts, as a JSON Schema says it; the length is said apart.
const IDENTITY_PATTERN: &str =
    r"^[^\s\u0000-\u001f\u007f-\u009f]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?$";

fn identity(text: &str) -> Result<String, IdentityError> {
    if text.is_empty() {
        Err(IdentityError::Empty)
    } else if text.chars().count() > IDENTITY_CHARS_MAX {
        Err(IdentityError::TooLong)
    } else if text.trim() != text || text.chars().any(char::is_control) {
        Err(IdentityError::Character)
    } else {
        Ok(text.to_owned())
    }
}

macro_rules! identities {
    ($($(#[$about:meta])* $name:ident;)*) => {
        $(
            $(#[$about])*
            #[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
            #[serde(into = "String", try_from = "String")]
            #[schemars(with = "String")]
            #[schemars(extend("minLength" = 1, "maxLength" = IDENTITY_CHARS_MAX, "pattern" = IDENTITY_PATTERN))]
            pub struct $name(String);

            impl $name {
                /// Returns the name as text.
                pub fn as_str(&self) -> &str {
                    &self.0
                }
            }

            impl FromStr for $name {
                type Err = IdentityError;

                fn from_str(text: &str) -> Result<Self, IdentityError> {
                    identity(text).map(Self)
                }
            }

            impl TryFrom<String> for $name {
                type Error = IdentityError;

                fn try_from(text: String) -> Result<Self, IdentityError> {
                    text.parse()
                }
            }

            impl From<$name> for String {
                fn from(name: $name) -> Self {
                    name.0
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str(&self.0)
                }
            }
        )*
    };
}

identities! {
    /// A person, or a program that acts as one: the subject that the identity provider gives.
    UserId;
    /// Several people who share skills.
    TeamId;
}

/// Whose eyes something is seen with: decides which skills there are.
#[derive(Clone, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Viewer {
    /// The user.
    pub user: UserId,
    /// The teams the user belongs to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub teams: BTreeSet<TeamId>,
}

/// The teams of a user, as the identity provider last told them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct KnownTeams {
    /// The teams.
    pub teams: BTreeSet<TeamId>,
    /// When the provider told them.
    pub at: Timestamp,
}

/// Returns the teams that a key stands for: those it was made for, without those that its owner has left. Of an owner
/// whom no identity provider knows, the key decides alone.
pub fn teams_of_key(granted: &BTreeSet<TeamId>, owner: Option<&KnownTeams>) -> BTreeSet<TeamId> {
    match owner {
        Some(known) => granted.intersection(&known.teams).cloned().collect(),
        None => granted.clone(),
    }
}

/// Returns what a key may be used for: what it was made for, without `admin` once the identity provider says that its owner
/// is in no team of administrators. Of an owner whom no identity provider knows, the key decides alone.
pub fn scopes_of_key(
    granted: &BTreeSet<Scope>,
    owner: Option<&KnownTeams>,
    admin_teams: &BTreeSet<TeamId>,
) -> BTreeSet<Scope> {
    let is_no_admin = owner.is_some_and(|known| known.teams.is_disjoint(admin_teams));
    granted.iter().copied().filter(|scope| !(is_no_admin && *scope == Scope::Admin)).collect()
}

/// One thing that a credential may be used for.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Scope {
    /// Reading skills.
    #[serde(rename = "catalog:read")]
    CatalogRead,
    /// Making and changing skills of one's own.
    #[serde(rename = "catalog:write")]
    CatalogWrite,
    /// Starting, steering and reading runs of one's own.
    #[serde(rename = "runs:write")]
    RunsWrite,
    /// Starting, steering and reading agents of one's own, and their messages.
    #[serde(rename = "agents:write")]
    AgentsWrite,
    /// Everything, for everybody.
    #[serde(rename = "admin")]
    Admin,
}

/// A word that is no scope.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{0}` is no scope; there are catalog:read, catalog:write, runs:write, agents:write and admin")]
pub struct UnknownScope(String);

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 5] =
        [Self::CatalogRead, Self::CatalogWrite, Self::RunsWrite, Self::AgentsWrite, Self::Admin];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::CatalogRead => "catalog:read",
            Self::CatalogWrite => "catalog:write",
            Self::RunsWrite => "runs:write",
            Self::AgentsWrite => "agents:write",
            Self::Admin => "admin",
        }
    }

    /// Returns what somebody who logged in as themselves may do.
    pub fn of_a_person() -> BTreeSet<Self> {
        [Self::CatalogRead, Self::CatalogWrite, Self::RunsWrite, Self::AgentsWrite].into()
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Scope {
    type Err = UnknownScope;

    fn from_str(text: &str) -> Result<Self, UnknownScope> {
        let found = Self::ALL.into_iter().find(|scope| scope.as_str() == text);
        found.ok_or_else(|| UnknownScope(text.to_owned()))
    }
}

/// How somebody proved who they are.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Credential {
    /// The token of the first administrator.
    AdminToken,
    /// An API key, by its public part.
    ApiKey(String),
    /// A token of the identity provider.
    Oidc,
    /// The token for reading the numbers about the server's process.
    MetricsToken,
    /// None was needed: somebody who has the data folder in hand.
    Local,
}

impl Credential {
    /// Returns how it is written in the audit log; never anything secret.
    pub fn shown(&self) -> String {
        match self {
            Self::AdminToken => "admin token".to_owned(),
            Self::ApiKey(id) => format!("key {id}"),
            Self::Oidc => "oidc".to_owned(),
            Self::MetricsToken => "metrics token".to_owned(),
            Self::Local => "local".to_owned(),
        }
    }
}

/// Who is calling.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Principal {
    /// The user and their teams.
    pub viewer: Viewer,
    /// What the credential may be used for.
    pub scopes: BTreeSet<Scope>,
    /// How they proved who they are.
    pub credential: Credential,
}

impl Principal {
    /// The name of the holder of the administrator's token. No person or key has it.
    pub const ADMIN_USER: &str = "admin";

    /// Returns the principal that holds the administrator's token.
    pub fn administrator() -> Self {
        let user = Self::ADMIN_USER.parse().expect("a constant name is valid");
        Self {
            viewer: Viewer { user, teams: BTreeSet::new() },
            scopes: [Scope::Admin].into(),
            credential: Credential::AdminToken,
        }
    }

    /// Says whether the principal may do what the scope is about; an administrator may do everything.
    pub fn may(&self, scope: Scope) -> bool {
        self.scopes.contains(&scope) || self.is_admin()
    }

    /// Says whether the principal may do everything.
    pub fn is_admin(&self) -> bool {
        self.scopes.contains(&Scope::Admin)
    }

    /// Returns who owns what the principal starts; nothing for the person who has the data folder in hand. A run or an agent of
    /// theirs is the same whether a command or a local client started it, and no name that a remote caller can have owns it.
    pub fn owner(&self) -> Option<&Viewer> {
        match self.credential {
            Credential::Local => None,
            Credential::AdminToken | Credential::ApiKey(_) | Credential::Oidc | Credential::MetricsToken => {
                Some(&self.viewer)
            }
        }
    }

    /// Says whether something of that owner is the principal's to see and steer. What nobody owns was started beside
    /// the server, by whoever has the data folder, and is an administrator's.
    pub fn owns(&self, owner: Option<&UserId>) -> bool {
        self.is_admin() || owner == Some(&self.viewer.user)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(scopes: &[Scope]) -> Principal {
        Principal {
            viewer: Viewer { user: "ann".parse().unwrap(), teams: BTreeSet::new() },
            scopes: scopes.iter().copied().collect(),
            credential: Credential::Oidc,
        }
    }

    #[test]
    fn names_are_checked_where_they_enter() {
        assert_eq!("".parse::<UserId>(), Err(IdentityError::Empty));
        assert_eq!(" a".parse::<UserId>(), Err(IdentityError::Character));
        assert_eq!("a\nb".parse::<TeamId>(), Err(IdentityError::Character));
        assert_eq!("x".repeat(IDENTITY_CHARS_MAX + 1).parse::<TeamId>(), Err(IdentityError::TooLong));
        assert_eq!(
            "Ann Öst <ann@example.org>".parse::<UserId>().unwrap().as_str(),
            "Ann Öst <ann@example.org>"
        );
    }

    #[test]
    fn scopes_are_read_as_they_are_written() {
        for scope in Scope::ALL {
            assert_eq!(scope.as_str().parse(), Ok(scope));
            assert_eq!(serde_json::to_value(scope).unwrap(), scope.as_str());
        }
        assert!("catalog".parse::<Scope>().is_err());
    }

    #[test]
    fn a_key_stands_for_the_teams_that_its_owner_is_still_in() {
        let set =
            |names: &[&str]| -> BTreeSet<TeamId> { names.iter().map(|name| name.parse().unwrap()).collect() };
        let check = |granted: &[&str], known: Option<&[&str]>, expected: &[&str]| {
            let known = known.map(|names| KnownTeams { teams: set(names), at: Timestamp::from_millis(1) });
            assert_eq!(teams_of_key(&set(granted), known.as_ref()), set(expected), "{granted:?} {known:?}");
        };
        check(&["a", "b"], None, &["a", "b"]);
        check(&["a", "b"], Some(&["b", "c"]), &["b"]);
        check(&["a"], Some(&[]), &[]);
        check(&[], Some(&["a"]), &[]);
    }

    #[test]
    fn a_key_loses_admin_with_the_last_team_of_administrators_of_its_owner() {
        let set =
            |names: &[&str]| -> BTreeSet<TeamId> { names.iter().map(|name| name.parse().unwrap()).collect() };
        let granted = BTreeSet::from([Scope::RunsWrite, Scope::Admin]);
        let check = |known: Option<&[&str]>, admins: &[&str], keeps_admin: bool| {
            let known = known.map(|names| KnownTeams { teams: set(names), at: Timestamp::from_millis(1) });
            let scopes = scopes_of_key(&granted, known.as_ref(), &set(admins));
            assert_eq!(scopes.contains(&Scope::Admin), keeps_admin, "{known:?} {admins:?}");
            assert!(scopes.contains(&Scope::RunsWrite));
        };
        check(None, &["bosses"], true);
        check(Some(&["bosses", "blue"]), &["bosses"], true);
        check(Some(&["blue"]), &["bosses"], false);
        check(Some(&[]), &["bosses", "owners"], false);
        check(Some(&["blue"]), &[], false);
    }

    #[test]
    fn an_administrator_may_everything_and_owns_everything() {
        let (admin, reader) = (principal(&[Scope::Admin]), principal(&[Scope::CatalogRead]));
        assert!(Scope::ALL.into_iter().all(|scope| admin.may(scope)));
        assert!(reader.may(Scope::CatalogRead) && !reader.may(Scope::CatalogWrite));
        let (ann, bob) = ("ann".parse().unwrap(), "bob".parse().unwrap());
        assert!(reader.owns(Some(&ann)) && !reader.owns(Some(&bob)) && !reader.owns(None));
        assert!(admin.owns(Some(&bob)) && admin.owns(None));
    }
}
