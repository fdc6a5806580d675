//! What is a location, how it is written, and what is refused.

use artel_model::catalog::HubKind::{self, Git, Github, WellKnown};

use super::host::HostRules;
use super::location::{HubLocation, LocationProblem};

#[track_caller]
fn check(kind: HubKind, text: &str, expected: &str) {
    let location = HubLocation::parse(kind, text).unwrap_or_else(|problem| panic!("{text}: {problem}"));
    assert_eq!(location.to_string(), expected);
    assert_eq!(HubLocation::parse(kind, expected).as_ref(), Ok(&location), "{text}");
    assert_eq!(location.kind(), kind);
}

#[test]
fn the_same_place_is_written_in_one_way() {
    for text in [
        "Anthropics/Skills",
        " anthropics/skills/ ",
        "anthropics/skills.git",
        "https://github.com/anthropics/skills",
        "HTTPS://www.GitHub.com/anthropics/skills.git/",
        "git@github.com:anthropics/skills.git",
    ] {
        check(Github, text, "anthropics/skills");
    }
    for (text, expected) in [
        ("https://Git.Example.com:443/a/b.git/", "https://git.example.com/a/b.git"),
        ("https://git.example.com:8443/~ann/b", "https://git.example.com:8443/~ann/b"),
        ("http://127.0.0.1:80/a", "http://127.0.0.1/a"),
        ("https://[::1]:8443/a", "https://[::1]:8443/a"),
        ("ssh://git@host.example:22/a/b.git", "ssh://git@host.example/a/b.git"),
        ("ssh://host.example:2222/a", "ssh://host.example:2222/a"),
        ("git@host.example:a/b.git", "git@host.example:a/b.git"),
        ("git@host.example:/srv/b.git", "ssh://git@host.example/srv/b.git"),
        ("file:///srv/repository/", "file:///srv/repository"),
    ] {
        check(Git, text, expected);
    }
    check(WellKnown, "https://Example.com/", "https://example.com");
    check(WellKnown, "https://example.com/docs", "https://example.com/docs");
}

#[test]
fn what_is_no_location_is_refused() {
    use LocationProblem as P;
    let problem = |kind, text: &str| HubLocation::parse(kind, text).expect_err(text);
    for kind in [Github, Git, WellKnown] {
        assert_eq!(problem(kind, "  "), P::Empty);
        assert_eq!(problem(kind, "--upload-pack=x"), P::Option);
        assert_eq!(problem(kind, "https://a.b/c d"), P::Character);
        assert_eq!(problem(kind, "https://a.b/\u{202e}"), P::Character);
        assert_eq!(problem(kind, "https://a.b/\nc"), P::Character);
        assert_eq!(problem(kind, &format!("https://a.b/{}", "x".repeat(1000))), P::TooLong);
        assert_eq!(problem(kind, "https://ghp_secret@github.com/a/b"), P::Credentials);
        assert_eq!(problem(kind, "https://ann:secret@github.com/a/b"), P::Credentials);
    }
    for text in
        ["a", "a/b/c", "a/..", "a/.", "../b", "a//b", "/a/b", "-a/b", "a/-b", "a/b?x", "a/b#x", "a/%2e"]
    {
        assert!(HubLocation::parse(Github, text).is_err(), "{text}");
    }
    assert_eq!(problem(Github, "https://gitlab.com/a/b"), P::Repository);
    assert_eq!(problem(Github, "https://github.com.evil.example/a/b"), P::Repository);
    assert!(matches!(problem(Github, "http://github.com/a/b"), P::Transport { .. }));
    for text in
        ["ext::sh -c", "ext::sh", "git://host/a", "ftp://host/a", "fd::17", "/srv/repository", "host:a"]
    {
        assert!(HubLocation::parse(Git, text).is_err(), "{text}");
    }
    for text in [
        "https://host.example",
        "https://host.example/a/../b",
        "https://host.example/a?b=c",
        "https://host.example/a//b",
        "file://host/a",
        "file:///",
        "file:///a/../b",
        "file://a",
        "git@host.example:-a",
        "ssh://host.example",
    ] {
        assert_eq!(problem(Git, text), P::Path, "{text}");
    }
    for text in ["https:///a", "https://-a.b/c", "https://127.1/a", "https://0x7f000001/a", "ssh://-oProxy/a"]
    {
        assert_eq!(problem(Git, text), P::Host, "{text}");
    }
    for text in ["https://a.b:0/c", "https://a.b:65536/c", "https://a.b:+1/c", "https://a.b:/c"] {
        assert_eq!(problem(Git, text), P::Port, "{text}");
    }
    assert_eq!(problem(Git, "ssh://-oProxyCommand=x@host.example/a"), P::Credentials);
    assert_eq!(problem(Git, "ssh://ann:secret@host.example/a"), P::Credentials);
    assert!(matches!(problem(WellKnown, "example.com"), P::Transport { .. }));
}

#[test]
fn an_operator_says_what_is_allowed() {
    let closed = HostRules::default();
    let open = HostRules {
        hosts: vec!["git.example.com".parse().unwrap(), "127.0.0.1".parse().unwrap()],
        allows_file: true,
        allows_loopback_http: true,
    };
    let check = |kind, text: &str| {
        let location = HubLocation::parse(kind, text).unwrap();
        (location.check(&closed).is_ok(), location.check(&open).is_ok())
    };
    assert_eq!(check(Github, "a/b"), (true, true));
    assert_eq!(check(Git, "https://github.com/a/b"), (true, true));
    assert_eq!(check(Git, "https://git.example.com/a"), (false, true));
    assert_eq!(check(Git, "git@git.example.com:a"), (false, true));
    assert_eq!(check(Git, "file:///srv/a"), (false, true));
    assert_eq!(check(Git, "http://127.0.0.1:8080/a"), (false, true));
    assert_eq!(check(Git, "http://github.com/a/b"), (false, false));
    assert_eq!(check(Git, "http://git.example.com/a"), (false, false));
    assert_eq!(check(WellKnown, "https://git.example.com"), (false, true));
    assert_eq!(check(WellKnown, "https://other.example.com"), (false, false));
}

#[test]
fn a_hub_has_a_name_for_a_skill_at_its_top() {
    let name = |kind, text: &str| HubLocation::parse(kind, text).unwrap().root_name();
    assert_eq!(name(Github, "a/My.Skills"), "my.skills");
    assert_eq!(name(Github, "a/.github"), "hub");
    assert_eq!(name(Git, "https://a.b/c/pdf.git"), "pdf");
    assert_eq!(name(Git, "git@a.b:pdf.git"), "pdf");
    assert_eq!(name(Git, "file:///srv/pdf"), "pdf");
    assert_eq!(name(WellKnown, "https://example.com/x"), "example.com");
}
