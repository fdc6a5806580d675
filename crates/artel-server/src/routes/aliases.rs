//! Older names of some paths. An alias is the same handler with the same needs under a second path.

use artel_api::Endpoint;

use crate::route::Route;

/// What aliases belong to; OpenAPI calls what is in it deprecated.
const GROUP: &str = "aliases";

/// An alias: its path, its name, and the name of the endpoint that it stands for. Paths have the same parts in the same order.
const ALIASES: &[(&str, &str, &str)] = &[
    ("/skills", "aliasSkills", "listSkills"),
    ("/internal/supervisor/skills-status", "aliasSupervisorStatus", "supervisorStatus"),
    ("/agent/create", "aliasAgentCreate", "spawnAgent"),
    ("/agent/list", "aliasAgentList", "listAgents"),
    ("/agent/{id}", "aliasAgent", "readAgent"),
    ("/agent/{id}/execute", "aliasAgentExecute", "executeOperation"),
    ("/agent/{id}/start", "aliasAgentStart", "startAgent"),
    ("/agent/{id}/pause", "aliasAgentPause", "pauseAgent"),
    ("/agent/{id}/resume", "aliasAgentResume", "resumeAgent"),
    ("/agent/{id}/cancel", "aliasAgentCancel", "cancelAgent"),
    ("/agent/{id}/terminate", "aliasAgentTerminate", "terminateAgent"),
    ("/agent/{id}/metrics", "aliasAgentMetrics", "agentMetrics"),
    ("/agent/{id}/messages", "aliasAgentMessages", "lookIntoMailbox"),
    ("/message/send", "aliasMessageSend", "sendMessage"),
    ("/message/publish", "aliasMessagePublish", "publishEvent"),
    ("/message/request", "aliasMessageRequest", "request"),
    ("/message/read", "aliasMessageRead", "readMessages"),
];

/// Returns the aliases of routes; those of endpoints that are not there are left out.
pub(super) fn of(routes: &[Route]) -> Vec<Route> {
    let alias = |(path, id, stands_for): &(&'static str, &'static str, &'static str)| {
        let route = routes.iter().find(|route| route.endpoint.id == *stands_for)?;
        let endpoint = Endpoint { path, id, group: GROUP, ..route.endpoint };
        Some(Route { endpoint, handler: route.handler.clone() })
    };
    ALIASES.iter().filter_map(alias).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::endpoints;

    #[test]
    fn every_alias_stands_for_an_endpoint() {
        let all = endpoints();
        for (path, id, stands_for) in ALIASES {
            let alias = all.iter().find(|endpoint| endpoint.id == *id).unwrap_or_else(|| panic!("{path}"));
            let meant = all.iter().find(|endpoint| endpoint.id == *stands_for).unwrap();
            assert_eq!((alias.method, alias.needs), (meant.method, meant.needs));
            assert_eq!(path.matches('{').count(), meant.path.matches('{').count(), "{path}");
        }
    }
}
