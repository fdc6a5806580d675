//! `artel skill enable` and `artel skill disable`.

use artel_catalog::{Keep, Switches};
use artel_model::name::SkillName;
use serde_json::json;

use super::context::{Context, find};
use super::health::reset;
use crate::cli::SkillRef;
use crate::failure::Failure;

pub(crate) fn enable(context: Context<'_>, skill: &SkillRef) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    find(&catalog, &skill.name, skill.version.as_ref())?;
    let mut switches = context.switches()?;
    switches.disabled.remove(&skill.name);
    match &skill.version {
        Some(version) => switches.chosen.insert(skill.name.clone(), version.clone()),
        // Without a version the usual choice is back.
        None => switches.chosen.remove(&skill.name),
    };
    save(context, &switches, &skill.name, "enabled")?;
    // An operator who switches a skill on says that it may be tried again.
    reset(context, &skill.name)
}

pub(crate) fn disable(context: Context<'_>, name: &SkillName) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    find(&catalog, name, None)?;
    let mut switches = context.switches()?;
    switches.disabled.insert(name.clone());
    save(context, &switches, name, "disabled")
}

fn save(context: Context<'_>, switches: &Switches, name: &SkillName, state: &str) -> Result<(), Failure> {
    switches.write(&context.config.data.value).map_err(|error| Failure::unavailable(&error))?;
    if context.output.json {
        context.output.document(&json!({
            "name": name,
            "enabled": !switches.disabled.contains(name),
            "version": switches.chosen.get(name),
        }));
    } else {
        let used = switches.chosen.get(name).filter(|_| !switches.disabled.contains(name));
        let version = used.map(|version| format!(", version {version} is used")).unwrap_or_default();
        context.output.line(&format!("{name}: {state}{version}"));
    }
    Ok(())
}
