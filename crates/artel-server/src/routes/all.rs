//! The list of all routes; what is not in it cannot be asked for.

use super::{
    agents, aliases, audit, chat, discovery, docs, events, executions, findings, hubs, keys, messages, plans,
    runs, saved_skills, skills, system,
};
use crate::mcp;
use crate::route::Route;

/// Returns every route.
pub(crate) fn all() -> Vec<Route> {
    let groups = [
        agents::routes(),
        audit::routes(),
        chat::routes(),
        discovery::routes(),
        docs::routes(),
        events::routes(),
        executions::routes(),
        findings::routes(),
        hubs::routes(),
        keys::routes(),
        mcp::routes(),
        messages::routes(),
        plans::routes(),
        runs::routes(),
        saved_skills::routes(),
        skills::routes(),
        system::routes(),
    ];
    let mut routes: Vec<Route> = groups.into_iter().flatten().collect();
    routes.extend(aliases::of(&routes));
    routes
}
