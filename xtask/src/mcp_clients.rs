//! The official clients of the Model Context Protocol that the server is tested with, each in a folder of its own below
//! `target/`, so that what they depend on does not get in the way of other tools.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::shell::{program_in, run, succeeds};

const PYTHON_CLIENT: &str = "mcp==2.3.0";
const NODE_CLIENT: &str = "@modelcontextprotocol/sdk@1.32.2";

/// Installs the clients that are missing; without Node.js there is only the one in Python.
pub(crate) fn install(root: &Path) -> Result<()> {
    if !is_installed(&python_folder(root), PYTHON_CLIENT) {
        run(program_in(root, "python3", &["-m", "venv", "--clear", "target/mcp-python"]))?;
        let pip = python_folder(root).join("bin/pip");
        run(program_in(root, pip, &["install", "--quiet", "--disable-pip-version-check", PYTHON_CLIENT]))?;
        remember(&python_folder(root), PYTHON_CLIENT)?;
    }
    println!("{PYTHON_CLIENT} is here");
    if !succeeds(program_in(root, "npm", &["--version"])) {
        println!("there is no npm, so that the client in TypeScript is not tried");
        return Ok(());
    }
    let folder = node_folder(root);
    if !is_installed(&folder, NODE_CLIENT) {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make `{}`", folder.display()))?;
        let options = [
            "install",
            "--silent",
            "--no-audit",
            "--no-fund",
            "--ignore-scripts",
            "--prefix",
            ".",
            NODE_CLIENT,
        ];
        run(program_in(&folder, "npm", &options))?;
        remember(&folder, NODE_CLIENT)?;
    }
    println!("{NODE_CLIENT} is here");
    Ok(())
}

/// Tells tests where the clients are that are installed.
pub(crate) fn tell(root: &Path, command: &mut Command) {
    if is_installed(&python_folder(root), PYTHON_CLIENT) {
        command.env("ARTEL_MCP_PYTHON", python_folder(root).join("bin/python"));
    }
    if is_installed(&node_folder(root), NODE_CLIENT) {
        command.env("ARTEL_MCP_NODE", node_folder(root));
    }
}

fn python_folder(root: &Path) -> PathBuf {
    root.join("target/mcp-python")
}

fn node_folder(root: &Path) -> PathBuf {
    root.join("target/mcp-node")
}

fn is_installed(folder: &Path, client: &str) -> bool {
    fs::read_to_string(folder.join("artel-installed")).is_ok_and(|installed| installed == client)
}

fn remember(folder: &Path, client: &str) -> Result<()> {
    let stamp = folder.join("artel-installed");
    fs::write(&stamp, client).with_context(|| format!("cannot write `{}`", stamp.display()))
}
