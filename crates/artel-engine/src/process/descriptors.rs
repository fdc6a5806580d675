//! How many files and connections this program may have open. Scripts have a limit of their own (`limits`).

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Lets this program have as many open as the system allows it; a shell usually gives 1,024, which a server with that many
/// clients has used up.
pub fn allow_all_descriptors() {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    // It is allowed to everybody; if it fails all the same, there is room for fewer clients.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_one_that_cannot_be_raised() {
        allow_all_descriptors();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
    }
}
