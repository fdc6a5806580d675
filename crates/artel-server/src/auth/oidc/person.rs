//! From the claims of a token whose signature is right to a principal: issued by whom, for whom, when, about whom.

use std::collections::BTreeSet;

use artel_model::access::{Credential, Principal, Scope, TeamId, UserId, Viewer};
use artel_model::limit::IDENTITY_TEAMS_MAX;
use artel_model::time::Timestamp;
use serde_json::{Map, Value};

use super::config::OidcConfig;
use crate::auth::admin;

/// A person who was let in by a token, and when the provider said what the token says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SignIn {
    pub(crate) principal: Principal,
    pub(crate) told_at: Timestamp,
}

/// How far the provider's clock may be from ours.
const LEEWAY_MS: u64 = 60_000;

/// Returns who the claims are about, if they are meant for us and in time.
pub(super) fn person(claims: &Map<String, Value>, config: &OidcConfig, now: Timestamp) -> Option<SignIn> {
    let is_meant = claims.get("iss")?.as_str()? == config.issuer && is_for_us(claims.get("aud")?, config);
    if !is_meant || !is_in_time(claims, now)? {
        return None;
    }
    let user: UserId = claims.get("sub")?.as_str()?.parse().ok()?;
    if admin::is_reserved(&user) {
        // What the holder of the administrator's token owns is not this person's.
        tracing::warn!(%user, "the identity provider calls a user by a name that is reserved");
        return None;
    }
    let teams = teams(claims, &config.teams_claim);
    let mut scopes = Scope::of_a_person();
    if !teams.is_disjoint(&config.admin_teams) {
        scopes.insert(Scope::Admin);
    }
    let principal = Principal { viewer: Viewer { user, teams }, scopes, credential: Credential::Oidc };
    // A moment to come would keep out what the provider says until then.
    let told_at = claims.get("iat").and_then(moment).map_or(now, |at| at.min(now));
    Some(SignIn { principal, told_at })
}

fn is_for_us(audience: &Value, config: &OidcConfig) -> bool {
    let is_ours = |one: &Value| one.as_str().is_some_and(|one| config.audiences.contains(one));
    audience.as_array().map_or_else(|| is_ours(audience), |several| several.iter().any(is_ours))
}

/// Says whether the token is good at that moment; nothing when it does not say until when it is.
fn is_in_time(claims: &Map<String, Value>, now: Timestamp) -> Option<bool> {
    let ends = moment(claims.get("exp")?)?;
    let begins = match claims.get("nbf") {
        Some(begins) => moment(begins)?,
        None => now,
    };
    Some(now < ends + LEEWAY_MS && begins <= now + LEEWAY_MS)
}

/// Reads seconds since 1970, which may have a fraction.
fn moment(value: &Value) -> Option<Timestamp> {
    let seconds = value.as_f64().filter(|seconds| (0.0..=1e12).contains(seconds))?;
    #[expect(clippy::cast_possible_truncation, reason = "the number is between 0 and 10^15")]
    let millis = (seconds * 1000.0) as i64;
    Some(Timestamp::from_millis(millis))
}

/// Returns the teams that a claim names: one, or a list. A name that cannot be one is left out, which gives nobody more.
fn teams(claims: &Map<String, Value>, claim: &str) -> BTreeSet<TeamId> {
    let Some(value) = claims.get(claim).or_else(|| nested(claims, claim)) else { return BTreeSet::new() };
    let names: Vec<&str> = match value {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    };
    names.into_iter().filter_map(|name| name.parse().ok()).take(IDENTITY_TEAMS_MAX).collect()
}

fn nested<'a>(claims: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let mut parts = path.split('.');
    let first = claims.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_700_000_000;

    fn config() -> OidcConfig {
        let config = OidcConfig::new("https://id.example.org", "artel");
        OidcConfig { admin_teams: ["boss".parse().unwrap()].into(), ..config }
    }

    fn claims(change: Value) -> Map<String, Value> {
        let mut claims = json!({
            "iss": "https://id.example.org", "aud": "artel", "sub": "ann", "exp": NOW + 300, "groups": ["blue"],
        });
        for (name, value) in change.as_object().unwrap() {
            claims[name] = value.clone();
            if value.is_null() {
                claims.as_object_mut().unwrap().remove(name);
            }
        }
        claims.as_object().unwrap().clone()
    }

    fn read(change: Value) -> Option<Principal> {
        signed_in(change).map(|sign_in| sign_in.principal)
    }

    fn signed_in(change: Value) -> Option<SignIn> {
        person(&claims(change), &config(), Timestamp::from_millis(NOW * 1000))
    }

    #[test]
    fn a_token_says_when_the_provider_told_the_teams() {
        let told = |change| signed_in(change).unwrap().told_at.as_millis() / 1000;
        assert_eq!(told(json!({"iat": NOW - 50})), NOW - 50);
        for unusable in [json!({}), json!({"iat": "soon"}), json!({"iat": NOW + 50})] {
            assert_eq!(told(unusable), NOW);
        }
    }

    #[test]
    fn good_claims_make_a_person() {
        let ann = read(json!({})).unwrap();
        assert_eq!(ann.viewer.user.as_str(), "ann");
        assert_eq!(ann.viewer.teams, ["blue".parse().unwrap()].into());
        assert!(!ann.is_admin() && ann.may(Scope::RunsWrite));
        assert!(read(json!({"groups": ["blue", "boss"]})).unwrap().is_admin());
    }

    #[test]
    fn what_is_not_meant_for_us_or_not_in_time_makes_nobody() {
        let wrong = [
            json!({"iss": "https://id.example.org/"}),
            json!({"iss": null}),
            json!({"aud": "other"}),
            json!({"aud": ["other"]}),
            json!({"aud": null}),
            json!({"exp": NOW - 60}),
            json!({"exp": null}),
            json!({"exp": "never"}),
            json!({"exp": -1}),
            json!({"nbf": NOW + 61}),
            json!({"nbf": "soon"}),
            json!({"sub": null}),
            json!({"sub": ""}),
            json!({"sub": 7}),
            json!({"sub": "admin"}),
        ];
        for change in wrong {
            assert_eq!(read(change.clone()), None, "{change}");
        }
        let right = [
            json!({"aud": ["other", "artel"]}),
            json!({"exp": NOW - 59}),
            json!({"exp": NOW as f64 + 0.5}),
            json!({"nbf": NOW + 60}),
        ];
        for change in right {
            assert!(read(change.clone()).is_some(), "{change}");
        }
    }

    #[test]
    fn teams_are_found_where_providers_put_them() {
        let found = |claims: Value, claim: &str| -> Vec<String> {
            teams(claims.as_object().unwrap(), claim).iter().map(ToString::to_string).collect()
        };
        assert_eq!(found(json!({"groups": "blue"}), "groups"), ["blue"]);
        assert_eq!(found(json!({"groups": ["/eng/blue", "red"]}), "groups"), ["/eng/blue", "red"]);
        assert_eq!(found(json!({"realm_access": {"roles": ["a"]}}), "realm_access.roles"), ["a"]);
        assert_eq!(found(json!({"https://a.org/groups": ["a"]}), "https://a.org/groups"), ["a"]);
        assert_eq!(found(json!({"groups": ["", 1, " x", {"a": 1}, "ok"]}), "groups"), ["ok"]);
        for nothing in
            [json!({}), json!({"groups": null}), json!({"groups": {"a": true}}), json!({"groups": true})]
        {
            assert!(found(nothing, "groups").is_empty());
        }
    }
}
