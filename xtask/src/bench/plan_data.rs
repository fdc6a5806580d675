//! A plan of tools that do nothing, in the words of artel, of ninja and of make. Runs nothing.

use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// Layers of tools, of which each waits for all of the layer before it.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) layers: usize,
    /// Tools in each layer.
    pub(super) tools: usize,
}

impl Shape {
    /// Returns how many tools there are.
    pub(super) fn count(&self) -> usize {
        self.layers * self.tools
    }

    /// Returns each tool with those that it waits for, first layer first.
    fn tools(&self) -> impl Iterator<Item = (String, Vec<String>)> {
        let layer = |number: usize| (0..self.tools).map(move |tool| format!("tool-{number}-{tool}"));
        (0..self.layers).flat_map(move |number| {
            let before: Vec<String> = number.checked_sub(1).into_iter().flat_map(layer).collect();
            layer(number).map(move |tool| (tool, before.clone()))
        })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let layers = if self.layers == 1 { "layer" } else { "layers" };
        write!(formatter, "plan of {} tools in {} {layers}", self.count(), self.layers)
    }
}

/// Makes the skill whose script is the tool, and returns where the script belongs.
pub(super) fn make_skill(skills: &Path) -> Result<PathBuf> {
    let folder = skills.join("noop");
    let scripts = folder.join("scripts");
    fs::create_dir_all(&scripts).with_context(|| format!("cannot make `{}`", scripts.display()))?;
    write(&folder.join("SKILL.md"), "---\nname: noop\ndescription: Does nothing, as fast as it can.\n---\n")?;
    let script = r#"{"name": "run", "path": "scripts/run"}"#;
    let manifest =
        format!(r#"{{"name": "noop", "version": "1.0.0", "scripts": [{script}], "entrypoint": "run"}}"#);
    write(&folder.join("skill.json"), &manifest)?;
    Ok(scripts.join("run"))
}

/// Returns the plan as artel reads it.
pub(super) fn plan_file(shape: &Shape) -> String {
    let tool = |(tool, before): (String, Vec<String>)| {
        let before: Vec<String> = before.iter().map(|tool| format!("{tool:?}")).collect();
        let before = before.join(", ");
        format!(r#"    {{"toolId": "{tool}", "skill": "noop", "async": true, "dependencies": [{before}]}}"#)
    };
    let tools: Vec<String> = shape.tools().map(tool).collect();
    format!(
        "{{\n  \"requestId\": \"6f1c1f44-7c1e-4d2e-9b4f-0d9a3f9d1c11\",\n  \"parallel\": true,\n  \
         \"metadata\": {{\"generationAttempt\": 1}},\n  \"tools\": [\n{}\n  ]\n}}\n",
        tools.join(",\n")
    )
}

/// Returns it as ninja reads it. No file is made, so everything is run every time.
pub(super) fn build_file(shape: &Shape, tool: &Path) -> String {
    let mut text = format!("rule tool\n  command = {}\n", tool.display());
    for (name, before) in shape.tools() {
        let separator = if before.is_empty() { "" } else { " " };
        let _ = writeln!(text, "build {name}: tool{separator}{}", before.join(" "));
    }
    text
}

/// Returns it as make reads it.
pub(super) fn make_file(shape: &Shape, tool: &Path) -> String {
    let names: Vec<String> = shape.tools().map(|(name, _)| name).collect();
    let mut text = format!(".PHONY: all {0}\nall: {0}\n", names.join(" "));
    for (name, before) in shape.tools() {
        let _ = writeln!(text, "{name}: {}\n\t{}", before.join(" "), tool.display());
    }
    text
}

/// Writes a file.
pub(super) fn write(path: &Path, content: &str) -> Result<()> {
    fs::write(path, content).with_context(|| format!("cannot write `{}`", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Shape = Shape { layers: 2, tools: 2 };

    #[test]
    fn a_layer_waits_for_the_one_before_it() {
        assert_eq!(
            build_file(&SMALL, Path::new("/t")),
            "rule tool\n  command = /t\n\
             build tool-0-0: tool\nbuild tool-0-1: tool\n\
             build tool-1-0: tool tool-0-0 tool-0-1\nbuild tool-1-1: tool tool-0-0 tool-0-1\n"
        );
        assert!(make_file(&SMALL, Path::new("/t")).ends_with("tool-1-1: tool-0-0 tool-0-1\n\t/t\n"));
        assert!(plan_file(&SMALL).contains(
            r#"{"toolId": "tool-1-1", "skill": "noop", "async": true, "dependencies": ["tool-0-0", "tool-0-1"]}"#
        ));
    }

    #[test]
    fn a_shape_says_what_it_is() {
        assert_eq!(SMALL.to_string(), "plan of 4 tools in 2 layers");
        assert_eq!(Shape { layers: 1, tools: 7 }.to_string(), "plan of 7 tools in 1 layer");
    }
}
