//! All methods together.

use super::{
    constraints, curves, entities, features, files, history, mass, merging, motions, solids, sweeps,
    workspaces,
};
use crate::rpc::Method;

/// Returns every method.
pub(crate) fn methods() -> Vec<Method> {
    let all = [
        constraints::methods(),
        curves::methods(),
        entities::methods(),
        features::methods(),
        files::methods(),
        history::methods(),
        mass::methods(),
        merging::methods(),
        motions::methods(),
        solids::methods(),
        sweeps::methods(),
        workspaces::methods(),
    ];
    all.into_iter().flatten().collect()
}
