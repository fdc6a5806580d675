//! Who sees the skills of a hub: one rule for the whole hub, and rules for folders of it.

use serde::{Deserialize, Serialize};

use crate::catalog::visibility::Visibility;
use crate::limit::HUB_PATH_RULES_MAX;

/// Who sees the skills of a hub. A hub that says nothing is for everybody.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HubVisibility {
    /// Who sees what no rule is about.
    pub whole: Visibility,
    /// Rules for folders, each folder once.
    pub paths: Vec<PathRule>,
}

/// Who sees the skills in a folder of a hub.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PathRule {
    /// The folder, without a slash at either end.
    pub path: String,
    /// Who sees them.
    pub visibility: Visibility,
}

/// Why it is not clear who sees the skills of a hub.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum HubVisibilityError {
    /// Too many rules.
    #[error("`paths` has more than {HUB_PATH_RULES_MAX} entries")]
    TooMany,
    /// Two rules for one folder.
    #[error("`paths` names the folder `{0}` twice")]
    Repeated(String),
}

impl Default for HubVisibility {
    fn default() -> Self {
        Self { whole: Visibility::Global, paths: Vec::new() }
    }
}

impl HubVisibility {
    /// Takes rules whose paths were checked.
    pub fn new(whole: Visibility, mut paths: Vec<PathRule>) -> Result<Self, HubVisibilityError> {
        if paths.len() > HUB_PATH_RULES_MAX {
            return Err(HubVisibilityError::TooMany);
        }
        paths.sort_by(|a, b| a.path.cmp(&b.path));
        match paths.windows(2).find(|pair| pair[0].path == pair[1].path) {
            Some(pair) => Err(HubVisibilityError::Repeated(pair[0].path.clone())),
            None => Ok(Self { whole, paths }),
        }
    }

    /// Returns who sees the skill in that folder of the hub: the rule of the innermost folder around it counts.
    pub fn of(&self, folder: &str) -> &Visibility {
        let holds = |rule: &&PathRule| {
            folder
                .strip_prefix(rule.path.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let innermost = self.paths.iter().filter(holds).max_by_key(|rule| rule.path.len());
        innermost.map_or(&self.whole, |rule| &rule.visibility)
    }

    /// Returns everybody who may see something of the hub.
    pub fn audience(&self) -> impl Iterator<Item = &Visibility> {
        std::iter::once(&self.whole).chain(self.paths.iter().map(|rule| &rule.visibility))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn team(name: &str) -> Visibility {
        Visibility::Team { team_ids: [name.parse().unwrap()].into() }
    }

    fn rule(path: &str, visibility: Visibility) -> PathRule {
        PathRule { path: path.to_owned(), visibility }
    }

    #[test]
    fn the_innermost_folder_decides() {
        let rules = vec![rule("a", team("red")), rule("a/b", Visibility::Global), rule("c/d", team("blue"))];
        let hub = HubVisibility::new(team("all"), rules).unwrap();
        for (folder, expected) in [
            ("", team("all")),
            ("a", team("red")),
            ("a/x", team("red")),
            ("ab", team("all")),
            ("a/b", Visibility::Global),
            ("a/b/c", Visibility::Global),
            ("a/bc", team("red")),
            ("c", team("all")),
            ("c/d/e", team("blue")),
        ] {
            assert_eq!(*hub.of(folder), expected, "{folder}");
        }
    }

    #[test]
    fn rules_that_contradict_or_flood_are_refused() {
        let twice = vec![rule("a", team("red")), rule("b", team("red")), rule("a", Visibility::Global)];
        let refused = HubVisibility::new(Visibility::Global, twice);
        assert_eq!(refused, Err(HubVisibilityError::Repeated("a".to_owned())));
        let many = (0..=HUB_PATH_RULES_MAX).map(|number| rule(&number.to_string(), team("red"))).collect();
        assert_eq!(HubVisibility::new(Visibility::Global, many), Err(HubVisibilityError::TooMany));
    }
}
