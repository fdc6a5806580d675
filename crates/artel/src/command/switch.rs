//! `artel skill enable`, `artel skill disable` and `artel skill forget-data`.

use artel_api::operator::{SkillSwitch, SwitchChange};
use artel_catalog::Keep;
use artel_model::name::SkillName;

use super::context::{Context, find};
use crate::backend::{self, reset_health_of, switch};
use crate::cli::SkillOrId;
use crate::failure::Failure;

pub(crate) fn enable(context: Context<'_>, skill: &SkillOrId) -> Result<(), Failure> {
    let skill = match skill {
        SkillOrId::Skill(skill) => skill,
        SkillOrId::Id(id) => {
            reset_health_of(context, id)?;
            context.output.line(&format!("{id}: its failures are forgotten"));
            return Ok(());
        }
    };
    let catalog = context.catalog(Keep::Descriptions)?;
    // A server offers one version of a skill, and knows by itself which others there are.
    let version = skill.version.as_ref().filter(|_| context.config.remote.value.is_none());
    find(&catalog, &skill.name, version)?;
    let change = SwitchChange { enabled: true, version: skill.version.clone() };
    print(context, &switch(context, &skill.name, change)?, "enabled");
    Ok(())
}

pub(crate) fn disable(context: Context<'_>, name: &SkillName) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    find(&catalog, name, None)?;
    print(context, &switch(context, name, SwitchChange { enabled: false, version: None })?, "disabled");
    Ok(())
}

pub(crate) fn forget_data(context: Context<'_>, name: &SkillName) -> Result<(), Failure> {
    let catalog = context.catalog(Keep::Descriptions)?;
    backend::forget_data(context, find(&catalog, name, None)?)?;
    context.output.line(&format!("{name}: what it kept for you is removed"));
    Ok(())
}

fn print(context: Context<'_>, switch: &SkillSwitch, state: &str) {
    if context.output.json {
        context.output.document(switch);
        return;
    }
    let used = switch.version.as_ref().filter(|_| switch.enabled);
    let version = used.map(|version| format!(", version {version} is used")).unwrap_or_default();
    context.output.line(&format!("{}: {state}{version}", switch.name));
}
