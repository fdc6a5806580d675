//! All methods together.

use super::{entities, solids, workspaces};
use crate::rpc::Method;

/// Returns every method.
pub(crate) fn methods() -> Vec<Method> {
    [entities::methods(), solids::methods(), workspaces::methods()].into_iter().flatten().collect()
}
