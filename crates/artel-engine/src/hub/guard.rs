//! Keeps fetches where the operator wants them: which addresses of the web may be asked, and which addresses of the
//! network their hosts may have. A name is resolved once, and only what was looked at is connected to.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use artel_catalog::hub::{Host, HostRules, Reach};
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::error::HubError;

/// The hosts of GitHub that its API leads to.
const GITHUB_HOSTS: [&str; 2] = ["api.github.com", "codeload.github.com"];

/// What may be asked.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    rules: HostRules,
    /// Where an operator says that GitHub's API is.
    api: Host,
    /// A proxy is asked by name, too, but never for a hub.
    proxy: Option<Host>,
}

impl Guard {
    pub(super) fn new(rules: HostRules, api: Host, proxy: Option<Host>) -> Self {
        Self { rules, api, proxy }
    }

    /// Checks an address of the web before it is asked.
    pub(super) fn check(&self, url: &Url) -> Result<(), HubError> {
        // An address is quoted without what may be secret in it.
        let refused = || HubError::HostNotAllowed(url.origin().ascii_serialization());
        let host: Host = url.host_str().and_then(|host| host.parse().ok()).ok_or_else(refused)?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        let is_plain = url.scheme() == "http" && self.rules.allows_loopback_http && host.is_loopback();
        if has_user || !(url.scheme() == "https" || is_plain) {
            return Err(refused());
        }
        let reach = self.reach(&host).ok_or_else(refused)?;
        match host.address() {
            Some(address) if !reach.allows(address) => Err(HubError::AddressNotAllowed { host, address }),
            Some(_) | None => Ok(()),
        }
    }

    /// Finds the addresses of a host that may be connected to.
    pub(super) async fn resolve(&self, host: &Host, reach: Reach) -> Result<Vec<IpAddr>, HubError> {
        if let Some(address) = host.address() {
            return allowed(host, reach, vec![address]);
        }
        let unresolved = |source| HubError::Unresolved { host: host.clone(), source };
        let found = tokio::net::lookup_host((host.to_string(), 0)).await.map_err(unresolved)?;
        allowed(host, reach, found.map(|address| address.ip()).collect())
    }

    /// Says which addresses a host may have; nothing when it may not be asked.
    pub(super) fn reach(&self, host: &Host) -> Option<Reach> {
        let is_github = GITHUB_HOSTS.iter().any(|name| host.to_string() == *name);
        if is_github {
            return Some(Reach::Public);
        }
        if *host == self.api { Some(Reach::Private) } else { self.rules.reach(host) }
    }
}

fn allowed(host: &Host, reach: Reach, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, HubError> {
    let first = found.first().copied();
    let good: Vec<IpAddr> = found.into_iter().filter(|address| reach.allows(*address)).collect();
    match (good.is_empty(), first) {
        (false, _) => Ok(good),
        (true, Some(address)) => Err(HubError::AddressNotAllowed { host: host.clone(), address }),
        (true, None) => {
            let source = io::Error::new(io::ErrorKind::NotFound, "it has no addresses");
            Err(HubError::Unresolved { host: host.clone(), source })
        }
    }
}

/// Resolves names for the client, so that it connects to nothing else.
pub(super) struct GuardedNames(pub(super) Arc<Guard>);

impl Resolve for GuardedNames {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = self.0.clone();
        Box::pin(async move {
            let refused = || HubError::HostNotAllowed(name.as_str().to_owned());
            let host: Host = name.as_str().parse().map_err(|_| refused())?;
            let is_proxy = guard.proxy.as_ref() == Some(&host);
            let reach = if is_proxy { Some(Reach::Private) } else { guard.reach(&host) };
            let found = guard.resolve(&host, reach.ok_or_else(refused)?).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(hosts: &[&str]) -> Guard {
        let rules = HostRules {
            hosts: hosts.iter().map(|host| host.parse().unwrap()).collect(),
            allows_file: false,
            allows_loopback_http: true,
        };
        Guard::new(rules, "api.github.com".parse().unwrap(), None)
    }

    #[test]
    fn only_allowed_places_are_asked() {
        let check = |hosts: &[&str], url: &str| guard(hosts).check(&url.parse().unwrap()).is_ok();
        assert!(check(&[], "https://github.com/a"));
        assert!(check(&[], "https://codeload.github.com/a"));
        assert!(check(&["*.example.com"], "https://a.example.com/x"));
        assert!(check(&["127.0.0.1"], "http://127.0.0.1:1/x"));
        for (hosts, url) in [
            (&[][..], "https://example.com/"),
            (&[], "http://github.com/a"),
            (&[], "https://ann:secret@github.com/a"),
            (&[], "https://127.0.0.1/"),
            (&["*"], "https://127.0.0.1/"),
            (&["*"], "https://10.0.0.1/"),
            (&["*"], "https://[::ffff:169.254.169.254]/"),
            (&["169.254.169.254"], "https://169.254.169.254/latest"),
            (&["127.0.0.1"], "http://127.0.0.2/x"),
            (&["example.com"], "http://example.com/x"),
            (&["*"], "file:///etc/passwd"),
            (&["*"], "ftp://example.com/"),
        ] {
            assert!(!check(hosts, url), "{hosts:?} {url}");
        }
    }

    #[tokio::test]
    async fn names_of_this_machine_do_not_lead_inside() {
        let host: Host = "localhost".parse().unwrap();
        let error = guard(&[]).resolve(&host, Reach::Public).await.unwrap_err();
        assert!(matches!(error, HubError::AddressNotAllowed { .. }), "{error}");
        assert!(guard(&[]).resolve(&host, Reach::Private).await.is_ok());
    }
}
