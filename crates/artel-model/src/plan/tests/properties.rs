//! What must hold for any plan, and for anything that is no plan.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::world::{PLAN_ID, World, document};
use crate::limit::PLAN_PROBLEMS_MAX;
use crate::plan::{Plan, PlanDocument, PlanProblemCode, resolve, resolve_value};

/// Whether a list of edges between few tools has a ring, the slow way.
fn has_ring(count: usize, edges: &[(usize, usize)]) -> bool {
    let mut reach = vec![vec![false; count]; count];
    edges.iter().for_each(|&(from, to)| reach[from][to] = true);
    for middle in 0..count {
        for from in 0..count {
            for to in 0..count {
                reach[from][to] |= reach[from][middle] && reach[middle][to];
            }
        }
    }
    (0..count).any(|tool| reach[tool][tool])
}

/// The order of tools, the slow way: always the first that can run.
fn slow_order(count: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    while order.len() < count {
        let is_ready = |tool: &usize| {
            !order.contains(tool) && edges.iter().all(|(from, to)| from != tool || order.contains(to))
        };
        let next = (0..count).find(is_ready).unwrap();
        order.push(next);
    }
    order
}

fn tools(count: usize, edges: &[(usize, usize)]) -> Value {
    let tool = |place: usize| {
        let needs = edges.iter().filter(|(from, _)| *from == place);
        let needs: Vec<String> = needs.map(|(_, to)| format!("t{to}")).collect();
        json!({"toolId": format!("t{place}"), "skill": "grasp", "dependencies": needs})
    };
    (0..count).map(tool).collect()
}

fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        prop::sample::select(vec![
            "requestId",
            "tools",
            "metadata",
            "toolId",
            "toolPath",
            "skill",
            "script",
            "input",
            "dependencies",
            "required",
            "async",
            "retryPolicy",
            "maxRetries",
            "timeoutMs",
            "parallel",
            "disabledSkills",
            "$x",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop::sample::select(vec![
            PLAN_ID,
            "a",
            "move",
            "grasp",
            "${a.output.x}",
            "${",
            "skills/grasp/run.sh"
        ])
        .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..10)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn any_tool() -> impl Strategy<Value = Value> {
    let target = prop_oneof![
        Just(json!({"skill": "grasp"})),
        Just(json!({"skill": "detect@1.0.0", "script": "quick"})),
        "[a-z/.]{1,12}".prop_map(|path| json!({"toolPath": path})),
    ];
    let id = "[a-zA-Z0-9 ./_-]{1,12}";
    let input = any_json().prop_map(|value| json!({"x": value}));
    let dependencies = prop::collection::vec(id, 0..4);
    let numbers = (0_u32..=10, any::<u64>(), prop::option::of(1_u64..=3_600_000));
    (id, target, input, dependencies, any::<(bool, bool)>(), numbers).prop_map(
        |(id, mut tool, input, dependencies, (required, r#async), (retries, backoff, timeout))| {
            tool["toolId"] = json!(id);
            tool["input"] = input;
            tool["dependencies"] = json!(dependencies);
            tool["required"] = json!(required);
            tool["async"] = json!(r#async);
            tool["retryPolicy"] = json!({"maxRetries": retries, "backoffMs": backoff});
            if let Some(timeout) = timeout {
                tool["timeoutMs"] = json!(timeout);
            }
            tool
        },
    )
}

proptest! {
    #[test]
    fn a_plan_runs_unless_it_has_a_ring_or_names_what_is_not_there(
        count in 1_usize..9,
        edges in prop::collection::vec((0_usize..9, 0_usize..9), 0..14),
    ) {
        let edges: Vec<(usize, usize)> = edges.into_iter().filter(|(from, _)| *from < count).collect();
        let is_known = edges.iter().all(|(_, to)| *to < count);
        let known: Vec<(usize, usize)> = edges.iter().copied().filter(|(_, to)| *to < count).collect();
        match resolve_value(&document(tools(count, &edges)), &World::usual()) {
            Ok(plan) => {
                prop_assert!(is_known && !has_ring(count, &edges));
                prop_assert_eq!(plan.order(), slow_order(count, &edges));
                let again: Plan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
                prop_assert_eq!(again, plan);
            }
            Err(problems) => {
                let codes: Vec<_> = problems.iter().map(|problem| problem.code).collect();
                prop_assert_eq!(codes.contains(&PlanProblemCode::UnknownDependency), !is_known);
                let ring = [PlanProblemCode::Cycle, PlanProblemCode::SelfDependency];
                prop_assert_eq!(codes.iter().any(|code| ring.contains(code)), has_ring(count, &known));
                prop_assert!(!is_known || has_ring(count, &known));
            }
        }
    }

    #[test]
    fn anything_is_read_or_refused(value in any_json()) {
        let text = value.to_string();
        for problems in [
            PlanDocument::parse(&value).err(),
            PlanDocument::parse_text(&text).err(),
            resolve_value(&value, &World::usual()).err(),
        ].into_iter().flatten() {
            prop_assert!((1..=PLAN_PROBLEMS_MAX).contains(&problems.len()));
        }
    }

    #[test]
    fn what_looks_like_a_tool_is_read_or_refused(tool in prop::collection::btree_map("tool(Id|Path)|skill|input|dependencies|async", any_json(), 0..6)) {
        let tool: Map<String, Value> = tool.into_iter().collect();
        let _ = resolve_value(&document(json!([tool, {"toolId": "a", "skill": "grasp"}])), &World::usual());
    }

    #[test]
    fn a_document_survives_being_written_and_read(
        tools in prop::collection::vec(any_tool(), 0..5),
        parallel in any::<bool>(),
        narrative in prop::option::of(any::<String>()),
        attempt in 1_u32..,
    ) {
        let written = json!({
            "requestId": PLAN_ID, "tools": tools, "parallel": parallel, "narrative": narrative,
            "disabledSkills": ["off"], "metadata": {"generationAttempt": attempt},
        });
        let document = PlanDocument::parse(&written).unwrap();
        let again = serde_json::to_value(&document).unwrap();
        prop_assert_eq!(&PlanDocument::parse(&again).unwrap(), &document);
        prop_assert_eq!(&PlanDocument::parse_text(&again.to_string()).unwrap(), &document);
        prop_assert_eq!(
            resolve(&document, &World::usual()).map_err(|problems| problems.len()),
            resolve_value(&again, &World::usual()).map_err(|problems| problems.len())
        );
    }
}
