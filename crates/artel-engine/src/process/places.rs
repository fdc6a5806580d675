//! The parts of the system that every sandboxed process may reach, as data. What is not listed is out of reach: homes,
//! `/tmp`, `/var`, `/root`, other skills.

use std::path::PathBuf;

use camino::Utf8Path;

use super::landlock::{Place, Rights};

/// Programs and their libraries. Not `/opt`, where anything may be installed, skills too; an interpreter there is granted
/// by the profile.
const EXECUTE: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// What programs need to know of the machine. `/etc` is listed piece by piece, as run by root it also holds what is
/// secret: password hashes, host keys, private certificates. `/proc` shows the names of other processes, but landlock
/// hides their memory, environment and descriptors.
const READ: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/debian_version",
    "/etc/default/locale",
    "/etc/environment",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/java",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/locale.conf",
    "/etc/lsb-release",
    "/etc/machine-id",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/profile",
    "/etc/protocols",
    "/etc/python3",
    "/etc/python3.11",
    "/etc/python3.12",
    "/etc/python3.13",
    "/etc/resolv.conf",
    "/etc/rpc",
    "/etc/services",
    "/etc/shells",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/etc/xml",
    "/proc",
    "/run/systemd/resolve/resolv.conf",
    "/run/systemd/resolve/stub-resolv.conf",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Devices that are the same for everybody. No terminal, and no `/dev/shm`: what lies there can be opened by every
/// process of the user, so a skill has to ask for it.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Opens the places of the system that exist here, each with the rights on it. What lies in another place, such as
/// `/bin` where it is a link into `/usr`, is covered by that one.
pub(super) fn of_the_system() -> Vec<(Place, Rights)> {
    let lists = [(EXECUTE, Rights::EXECUTE), (READ, Rights::READ), (DEVICES, Rights::DEVICE)];
    let mut real: Vec<PathBuf> = Vec::new();
    let mut places = Vec::new();
    for (paths, rights) in lists {
        for path in paths.iter().filter_map(|path| std::fs::canonicalize(path).ok()) {
            if real.iter().any(|place| path.starts_with(place)) {
                continue;
            }
            places.extend(Place::open(&path).map(|place| (place, rights)));
            real.push(path);
        }
    }
    places
}

/// Returns whether every process may read this path.
pub(super) fn is_of_the_system(path: &Utf8Path) -> bool {
    [EXECUTE, READ, DEVICES].iter().any(|list| list.iter().any(|place| path.starts_with(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_or_shared_is_listed() {
        let all = [EXECUTE, READ, DEVICES].concat();
        for path in
            ["/", "/etc", "/etc/ssl", "/home", "/root", "/tmp", "/var", "/run", "/dev", "/dev/shm", "/sys"]
        {
            assert!(!all.contains(&path), "{path}");
        }
    }

    #[test]
    fn what_is_missing_is_skipped() {
        assert!(!of_the_system().is_empty());
    }
}
