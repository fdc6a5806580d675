//! `artel plan generate`.

use std::collections::BTreeSet;
use std::time::Duration;

use artel_api::plans::Wish;
use artel_catalog::Keep;
use artel_engine::planner::{Planned, PlanningRequest};
use artel_engine::process::{Launcher, LauncherConfig};
use artel_model::id::PlanId;
use tokio::time::Instant;
use uuid::Uuid;

use super::planner::{kind, offered, word};
use crate::cli::GenerateArgs;
use crate::command::Context;
use crate::desk;
use crate::failure::{Failure, chain};
use crate::workshop::{Shelf, launcher_program, planner, planning_ms, wait_for};

pub(crate) fn generate(context: Context<'_>, args: &GenerateArgs) -> Result<(), Failure> {
    let planned = match context.remote()? {
        None => wait_for(plan(context, args))?,
        Some(client) => {
            let wish =
                Wish { request: args.request.join(" "), timeout_ms: None, planner: word(args.planner) };
            wait_for(desk::generate(&client, &wish))?
        }
    };
    print(context, &planned);
    Ok(())
}

async fn plan(context: Context<'_>, args: &GenerateArgs) -> Result<Planned, Failure> {
    let shelf = Shelf::open(context, Keep::Instructions).await?;
    let config = LauncherConfig { program: launcher_program(context.config), guard: None };
    let launcher = Launcher::start(config).await.map_err(|error| Failure::unavailable(&error))?;
    let planner = planner(context, kind(context, args.planner), &launcher)?;
    let request = PlanningRequest {
        text: args.request.join(" "),
        offers: offered(&shelf),
        disabled: BTreeSet::new(),
        plan_id: PlanId(Uuid::new_v4()),
        attempt: 1,
        parent: None,
        feedback: Vec::new(),
        deadline: Instant::now() + Duration::from_millis(planning_ms(context)),
        check: shelf.skills.clone(),
    };
    let planned = tokio::time::timeout_at(request.deadline, planner.plan(&request)).await;
    let too_late = || Failure::failed(format!("there was no plan after {} ms", planning_ms(context)));
    planned.map_err(|_| too_late())?.map_err(|error| Failure::failed(chain(&error)))
}

/// The plan itself is the data, so that it can be kept in a file or run at once.
fn print(context: Context<'_>, planned: &Planned) {
    let output = context.output;
    output.document(&planned.document);
    for note in &planned.notes {
        output.talk(note);
    }
    let tools = planned.document.tools.len();
    let tools = if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") };
    output.talk(&format!("{tools}, planned by {}", planned.by));
}
