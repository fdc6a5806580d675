//! Routes: what an endpoint is, and who answers it. The check of the credential stands in front of every handler,
//! because no route can be made without saying what it needs.

use std::net::SocketAddr;
use std::sync::Arc;

use artel_api::{Endpoint, Method, Needs};
use artel_app::OperationError;
use artel_engine::trace::within;
use artel_model::access::{Credential, Principal, Scope};
use axum::Router;
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::handler::Handler;
use axum::http::Uri;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::json;

use crate::auth::ClientAddress;

use crate::error::{ApiError, status_of};
use crate::http::Http;
use crate::limit::Asker;
use crate::request_log::RequestFacts;
use crate::routes;
use crate::traced::RequestSpan;

/// What monitors ask to see whether the process lives. It costs nothing, so no caller is kept from it: otherwise one who
/// asks much would make the server look dead to a monitor at the same address.
const LIVENESS: &str = "/healthz";
/// Characters of an unknown parameter that its sender is shown.
const PARAMETER_CHARS_SHOWN: usize = 64;

/// An endpoint and who answers it.
pub struct Route {
    pub(crate) endpoint: Endpoint,
    pub(crate) handler: MethodRouter<Http>,
}

impl Route {
    /// Makes a route.
    pub(crate) fn new<H, T>(endpoint: Endpoint, handler: H) -> Self
    where
        H: Handler<T, Http>,
        T: 'static,
    {
        let filter = match endpoint.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Put => MethodFilter::PUT,
            Method::Patch => MethodFilter::PATCH,
            Method::Delete => MethodFilter::DELETE,
        };
        Self { endpoint, handler: on(filter, handler) }
    }
}

/// Returns every endpoint there is.
pub fn endpoints() -> Vec<Endpoint> {
    routes::all().into_iter().map(|route| route.endpoint).collect()
}

/// Makes the router of all routes.
pub(crate) fn router(http: &Http) -> Router {
    let mut router: Router<Http> = Router::new();
    for Route { endpoint, handler } in routes::all() {
        let check = from_fn_with_state((http.clone(), Checked::of(&endpoint)), check);
        router = router.route(endpoint.path, handler.route_layer(check));
    }
    router.with_state(http.clone())
}

/// What a check knows of its endpoint.
#[derive(Clone)]
struct Checked {
    needs: Needs,
    group: &'static str,
    path: &'static str,
    /// The parameters that its query may have.
    parameters: Arc<[String]>,
}

impl Checked {
    fn of(endpoint: &Endpoint) -> Self {
        Self {
            needs: endpoint.needs,
            group: endpoint.group,
            path: endpoint.path,
            parameters: endpoint.query_names().into(),
        }
    }
}

/// Lets a request through to its handler when its sender may call the endpoint, as a span of the trace that it belongs to.
async fn check(
    State((http, endpoint)): State<(Http, Checked)>,
    ConnectInfo(address): ConnectInfo<SocketAddr>,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    http.meters().reached(endpoint.group);
    let facts = request.extensions().get::<RequestFacts>().cloned().unwrap_or_default();
    facts.reached(endpoint.path);
    let mut span = if endpoint.needs == Needs::Nothing {
        RequestSpan::none()
    } else {
        RequestSpan::begin(&mut request, endpoint.path)
    };
    let place = span.place();
    let came = within(place, admitted(&http, &endpoint, address, request, next, (&mut span, &facts))).await;
    span.answered(match &came {
        Ok(response) => response.status(),
        Err(error) => status_of(error.0.kind),
    });
    came
}

/// Answers a request when its sender may call the endpoint.
async fn admitted(
    http: &Http,
    endpoint: &Checked,
    address: SocketAddr,
    mut request: Request,
    next: Next,
    (span, facts): (&mut RequestSpan, &RequestFacts),
) -> Result<Response, ApiError> {
    let (needs, live) = (endpoint.needs, http.live());
    let from = ClientAddress::of(address.ip(), request.headers(), &live.trusted_proxies);
    let (now, limits) = (http.app().clock().now(), &live.limits);
    let asker = if needs == Needs::Nothing {
        Asker::Address(from.neighbourhood())
    } else {
        let principal = match http.authenticator().authenticate(request.headers(), from, limits, now).await {
            Ok(principal) => principal,
            Err(error) => {
                if http.request_log().may_tell(from.neighbourhood(), now) {
                    let (owner, why) = http.authenticator().why_refused(request.headers(), now).await;
                    http.request_log().refused(owner.as_ref(), from.0, endpoint.path, why);
                }
                return Err(error.into());
            }
        };
        span.asked_by(&principal);
        facts.asked_by(&principal.viewer.user);
        if let Err(error) = allow(&principal, needs) {
            if http.request_log().may_tell(from.neighbourhood(), now) {
                let user = Some(&principal.viewer.user);
                http.request_log().refused(user, from.0, endpoint.path, &error.message);
            }
            return Err(error.into());
        }
        let asker = Asker::User(principal.viewer.user.clone());
        request.extensions_mut().insert(principal);
        asker
    };
    if endpoint.path != LIVENESS {
        let taken = limits.requests.take(&asker, now);
        taken.map_err(|too_many| OperationError::too_many(too_many.retry_after_seconds))?;
    }
    known_parameters(request.uri(), &endpoint.parameters)?;
    request.extensions_mut().insert(from);
    Ok(next.run(request).await)
}

/// Refuses a query with a parameter that the endpoint does not have: a caller who mistypes a filter must not get the
/// answer to another question.
fn known_parameters(uri: &Uri, known: &[String]) -> Result<(), OperationError> {
    let sent = Query::<Vec<(String, String)>>::try_from_uri(uri);
    let Query(sent) =
        sent.map_err(|error| OperationError::bad_request("invalid_query", error.body_text()))?;
    let Some((unknown, _)) = sent.into_iter().find(|(name, _)| !known.contains(name)) else { return Ok(()) };
    let unknown: String = unknown.chars().take(PARAMETER_CHARS_SHOWN).collect();
    let message = match known {
        [] => format!("there is no parameter `{unknown}`: this takes none"),
        known => format!("there is no parameter `{unknown}`; there are: {}", known.join(", ")),
    };
    let details = json!({"parameter": unknown, "known": known});
    Err(OperationError::bad_request("unknown_parameter", message).with_details(details))
}

/// Says whether a principal may call an endpoint with these needs.
fn allow(principal: &Principal, needs: Needs) -> Result<(), OperationError> {
    let needs_scope = |scope: Scope| match principal.may(scope) {
        true => Ok(()),
        false => Err(OperationError::forbidden(format!("This needs the scope `{scope}`."))),
    };
    match needs {
        Needs::Metrics if principal.is_admin() || principal.credential == Credential::MetricsToken => Ok(()),
        Needs::Metrics => Err(OperationError::forbidden("Only administrators can read the metrics.")),
        Needs::Credential if principal.credential == Credential::MetricsToken => {
            Err(OperationError::forbidden("This token is only for the metrics."))
        }
        Needs::Nothing | Needs::Credential => Ok(()),
        Needs::Scope(scope) => needs_scope(scope),
        Needs::AdminOr(_) if principal.is_admin() => Ok(()),
        Needs::AdminOr(message) => Err(OperationError::forbidden(message)),
        Needs::Person(_) if matches!(principal.credential, Credential::ApiKey(_)) => {
            Err(OperationError::forbidden("An API key cannot do this; log in as a person."))
        }
        Needs::Person(scope) => needs_scope(scope),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use artel_model::access::Viewer;

    use super::*;

    #[test]
    fn what_is_needed_decides() {
        let principal = |scopes: &[Scope], credential: Credential| Principal {
            viewer: Viewer { user: "ann".parse().unwrap(), teams: BTreeSet::new() },
            scopes: scopes.iter().copied().collect(),
            credential,
        };
        let reader = principal(&[Scope::CatalogRead], Credential::Oidc);
        let admin = principal(&[Scope::Admin], Credential::AdminToken);
        let key = principal(&[Scope::Admin], Credential::ApiKey("k".to_owned()));
        let is_allowed = |principal: &Principal, needs| allow(principal, needs).is_ok();
        assert!(is_allowed(&reader, Needs::Credential));
        assert!(is_allowed(&reader, Needs::Scope(Scope::CatalogRead)));
        assert!(!is_allowed(&reader, Needs::Scope(Scope::RunsWrite)));
        assert!(!is_allowed(&reader, Needs::AdminOr("no")));
        assert!(is_allowed(&admin, Needs::AdminOr("no")));
        assert!(is_allowed(&admin, Needs::Person(Scope::Admin)));
        assert!(!is_allowed(&key, Needs::Person(Scope::CatalogRead)));
    }

    #[test]
    fn a_parameter_that_is_not_known_is_named() {
        let known = ["limit".to_owned(), "state".to_owned()];
        let check = |query: &str| known_parameters(&format!("/api/runs{query}").parse().unwrap(), &known);
        for fine in ["", "?", "?limit=1&state=x", "?limit=", "?limit", "?%6Cimit=1"] {
            assert!(check(fine).is_ok(), "{fine}");
        }
        for (wrong, name) in
            [("?odd=1", "odd"), ("?limit=1&LIMIT=2", "LIMIT"), ("?=1", ""), ("?a%20b", "a b")]
        {
            let refused = check(wrong).unwrap_err();
            assert_eq!(refused.code, "unknown_parameter", "{wrong}");
            assert_eq!(refused.details.unwrap(), json!({"parameter": name, "known": ["limit", "state"]}));
        }
    }

    #[test]
    fn every_endpoint_has_a_name_and_a_path_of_its_own() {
        let endpoints = endpoints();
        let ids: BTreeSet<&str> = endpoints.iter().map(|endpoint| endpoint.id).collect();
        assert_eq!(ids.len(), endpoints.len());
        let paths: BTreeSet<(&str, Method)> = endpoints.iter().map(|one| (one.path, one.method)).collect();
        assert_eq!(paths.len(), endpoints.len());
    }

    #[test]
    fn only_what_says_nothing_of_anybody_is_open() {
        let open: BTreeSet<&str> =
            endpoints().iter().filter(|one| one.needs == Needs::Nothing).map(|one| one.path).collect();
        let pages = ["/api/docs", "/api/docs/page.css", "/api/docs/page.js"];
        // These answer only when the operator publishes what every caller sees.
        let published = [
            "/.well-known/agent-skills/index.json",
            "/.well-known/agent-skills/{name}/SKILL.md",
            "/.well-known/agent-skills/{name}/skill.tar.gz",
        ];
        let expected = ["/", "/healthz", "/readyz", "/api/openapi.json"].into_iter().chain(pages);
        assert_eq!(open, expected.chain(published).collect());
    }
}
