//! The landlock rules of a profile: those of the system, then its own. Rules are kept for the next process with the same
//! profile, as making them costs as much as everything else that the launcher does for a process.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;

use super::landlock::{Place, Rights, Ruleset, Tcp};
use super::places;
use super::request::{Network, Profile};

/// Profiles whose rules are kept.
const KEPT_MAX: usize = 32;

/// The rules of all profiles.
pub(super) struct Rules {
    abi: u32,
    system: Vec<(Place, Rights)>,
    kept: VecDeque<(Key, Ruleset)>,
}

/// What makes rules the same. Kept rules hold on to their files and folders, so that no other can get their identity.
#[derive(Eq, PartialEq)]
struct Key {
    tcp: Tcp,
    places: Vec<((u64, u64), Rights)>,
}

impl Rules {
    /// Opens the places that all profiles share.
    pub(super) fn prepare(abi: u32) -> Self {
        let system = if abi > 0 { places::of_the_system() } else { Vec::new() };
        Self { abi, system, kept: VecDeque::new() }
    }

    /// Returns the rules of a profile, and where it may write; no rules where the kernel has no landlock.
    pub(super) fn of(&mut self, profile: &Profile) -> io::Result<(Option<&Ruleset>, Vec<PathBuf>)> {
        let own = own_places(profile);
        let writable = own.iter().filter(|(_, rights)| *rights == Rights::WRITE);
        let writable = writable.map(|(place, _)| place.path()).collect::<io::Result<_>>()?;
        if self.abi == 0 {
            return Ok((None, writable));
        }
        let tcp = match profile.network {
            Network::Denied => Tcp::Denied,
            Network::Allowed => Tcp::Free,
        };
        let places = own.iter().map(|(place, rights)| (place.identity(), *rights)).collect();
        let key = Key { tcp, places };
        let found = self.kept.iter().position(|(kept, _)| *kept == key);
        let entry = match found.and_then(|index| self.kept.remove(index)) {
            Some(entry) => entry,
            None => (key, self.make(tcp, &own)?),
        };
        self.kept.truncate(KEPT_MAX - 1);
        self.kept.push_front(entry);
        Ok((self.kept.front().map(|(_, rules)| rules), writable))
    }

    fn make(&self, tcp: Tcp, own: &[(Place, Rights)]) -> io::Result<Ruleset> {
        let rules = Ruleset::deny_all(self.abi, tcp)?;
        for (place, rights) in self.system.iter().chain(own) {
            rules.allow(place, *rights)?;
        }
        Ok(rules)
    }
}

/// Opens the places of a profile that exist.
fn own_places(profile: &Profile) -> Vec<(Place, Rights)> {
    let lists = [
        (&profile.read, Rights::READ),
        (&profile.execute, Rights::EXECUTE),
        (&profile.write, Rights::WRITE),
        (&profile.write_shared, Rights::WRITE),
    ];
    let all = lists.into_iter().flat_map(|(paths, rights)| paths.iter().map(move |path| (path, rights)));
    all.filter_map(|(path, rights)| Some((Place::open(path)?, rights))).collect()
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd as _;

    use super::*;
    use crate::process::request::Strictness;

    fn profile(write: &str) -> Profile {
        Profile {
            read: Vec::new(),
            execute: Vec::new(),
            write: vec![write.into()],
            write_shared: Vec::new(),
            network: Network::Denied,
            strictness: Strictness::Enforce,
        }
    }

    #[test]
    fn rules_are_kept_for_the_same_folders_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run").to_str().unwrap().to_owned();
        std::fs::create_dir(&path).unwrap();
        let mut rules = Rules::prepare(super::super::landlock::abi());
        let mut descriptor =
            |path: &str| rules.of(&profile(path)).unwrap().0.map(|rules| rules.descriptor().as_raw_fd());
        let first = descriptor(&path);
        assert_eq!(descriptor(&path), first);
        let other = descriptor(folder.path().to_str().unwrap());
        assert!(other.is_none() || other != first);
        // A folder of the same name is another folder.
        std::fs::remove_dir(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        let again = descriptor(&path);
        assert!(again.is_none() || again != first);
    }

    #[test]
    fn few_rules_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut rules = Rules::prepare(super::super::landlock::abi());
        for number in 0..2 * KEPT_MAX {
            let path = folder.path().join(number.to_string());
            std::fs::create_dir(&path).unwrap();
            rules.of(&profile(path.to_str().unwrap())).unwrap();
        }
        assert!(rules.kept.len() <= KEPT_MAX);
    }
}
