//! `artel skill export`.

use artel_catalog::{ExportError, ExportScope, ExportTarget, Keep, Loaded, export};

use super::context::{Context, find};
use crate::cli::ExportArgs;
use crate::failure::{Failure, chain};

pub(crate) fn run(context: Context<'_>, args: &ExportArgs) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Everything)?;
    let entries: Vec<&Loaded> = if args.names.is_empty() {
        catalog.enabled()
    } else {
        args.names.iter().map(|name| find(&catalog, name, None)).collect::<Result<_, _>>()?
    };
    let scope = if args.names.is_empty() { ExportScope::All } else { ExportScope::Some };
    let target = args.client.unwrap_or(ExportTarget::Plain);
    let report = export(&entries, &args.dir, target, scope).map_err(|error| match error {
        ExportError::Occupied(_) | ExportError::Link(_) => Failure::failed(chain(&error)),
        ExportError::Read { .. } | ExportError::Write { .. } => Failure::unavailable(&error),
    })?;
    if context.output.json {
        context.output.document(&report);
        return Ok(());
    }
    for folder in &report.written {
        context.output.line(args.dir.join(folder).as_str());
    }
    let (written, removed) = (report.written.len(), report.removed.len());
    let gone = if removed > 0 { format!(", {removed} removed") } else { String::new() };
    let plural = if written == 1 { "" } else { "s" };
    context.output.talk(&format!("{written} skill{plural} written{gone}"));
    if args.names.is_empty() {
        context.talk_about(&catalog);
    }
    Ok(())
}
