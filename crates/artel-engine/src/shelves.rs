//! Which skills somebody sees, and where the files of a plan are that was made earlier. Knows nothing of who may see what.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use artel_model::access::Viewer;
use artel_model::skill::SkillPin;

use crate::shelf::SkillShelf;

/// How many earlier shelves are looked at for the files of a plan.
const EARLIER_SHELVES_MAX: usize = 7;

/// The shelves of everybody.
pub trait Shelves: Send + Sync {
    /// Returns what a viewer sees at this moment; without a viewer, what whoever has the machine in hand sees.
    fn shelf(&self, viewer: Option<&Viewer>) -> Arc<SkillShelf>;

    /// Returns a shelf on which a skill has, at this moment, exactly the files with that hash, whoever sees it: for plans that
    /// were made earlier, perhaps with skills that nobody sees any more.
    fn holding(&self, skill: &SkillPin, content_hash: &str) -> Option<Arc<SkillShelf>>;
}

/// One shelf, which is everybody's: that of a command, which works for whoever typed it.
pub struct OneShelf(RwLock<Shelved>);

struct Shelved {
    latest: Arc<SkillShelf>,
    /// Those before it, the latest first: their folders may still be there, and plans that were made with them.
    earlier: VecDeque<Arc<SkillShelf>>,
}

impl OneShelf {
    /// Makes the shelf of everybody.
    pub fn new(shelf: Arc<SkillShelf>) -> Self {
        Self(RwLock::new(Shelved { latest: shelf, earlier: VecDeque::new() }))
    }

    /// Puts another shelf in its place.
    pub fn replace(&self, shelf: Arc<SkillShelf>) {
        let mut shelved = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut shelved.latest, shelf);
        shelved.earlier.push_front(before);
        shelved.earlier.truncate(EARLIER_SHELVES_MAX);
    }

    /// Returns all shelves, the latest first. Whoever looks at files does so without the lock.
    fn all(&self) -> Vec<Arc<SkillShelf>> {
        let shelved = self.0.read().unwrap_or_else(PoisonError::into_inner);
        std::iter::once(&shelved.latest).chain(&shelved.earlier).cloned().collect()
    }
}

impl Shelves for OneShelf {
    fn shelf(&self, _: Option<&Viewer>) -> Arc<SkillShelf> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).latest.clone()
    }

    fn holding(&self, skill: &SkillPin, content_hash: &str) -> Option<Arc<SkillShelf>> {
        self.all().into_iter().find(|shelf| shelf.holds(skill, content_hash))
    }
}
