//! `artel skill select`.

use artel_catalog::{Keep, SelectRequest, TaskKind};
use artel_model::select::Risk;

use super::context::{Context, lookup_failure};
use crate::cli::{RiskChoice, SelectArgs};
use crate::failure::Failure;
use crate::output::{Table, Tone};

pub(crate) fn run(context: Context<'_>, args: &SelectArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Instructions)?;
    let request = SelectRequest {
        task: &args.task,
        risk: match args.risk {
            RiskChoice::Low => Risk::Low,
            RiskChoice::Medium => Risk::Medium,
            RiskChoice::High => Risk::High,
        },
        kind: if args.coding { TaskKind::Coding } else { TaskKind::Any },
        limit: args.limit,
    };
    let selection = catalog.select(&request).map_err(|error| lookup_failure(&catalog, &error))?;
    if context.output.json {
        context.output.document(&selection);
        return Ok(());
    }
    let mut table = Table::new(&[Tone::Faint, Tone::Strong, Tone::Plain]);
    for chosen in &selection.selected {
        let score = chosen.score.map(|score| format!("{score:.2}")).unwrap_or_default();
        table.row([score, chosen.name.to_string(), chosen.reason.clone()]);
    }
    context.output.data(&table.render(context.output));
    if selection.selected.is_empty() {
        context.output.talk("no skill fits; try other words");
    }
    for rejected in &selection.rejected {
        context.output.talk(&format!("left out {}: {}", rejected.name, rejected.reason));
    }
    Ok(())
}
