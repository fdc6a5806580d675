//! The list of all routes; what is not in it cannot be asked for.

use super::{
    agents, aliases, assets, audit, chat, discovery, docs, events, executions, findings, hubs, imports, keys,
    messages, operator, plans, rescans, runs, saved_skills, skill_files, skills, system, trail,
};
use crate::mcp;
use crate::route::Route;

/// Returns every route.
pub(crate) fn all() -> Vec<Route> {
    let groups = [
        agents::routes(),
        assets::routes(),
        audit::routes(),
        chat::routes(),
        discovery::routes(),
        docs::routes(),
        events::routes(),
        executions::routes(),
        findings::routes(),
        hubs::routes(),
        imports::routes(),
        keys::routes(),
        mcp::routes(),
        messages::routes(),
        operator::routes(),
        plans::routes(),
        rescans::routes(),
        runs::routes(),
        saved_skills::routes(),
        skill_files::routes(),
        skills::routes(),
        system::routes(),
        trail::routes(),
    ];
    let mut routes: Vec<Route> = groups.into_iter().flatten().collect();
    routes.extend(aliases::of(&routes));
    routes
}
