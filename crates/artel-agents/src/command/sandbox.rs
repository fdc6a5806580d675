//! What a program of others may reach: its own folders, where it is installed, what its client keeps in a home folder that
//! the operator shares, and the network if its client needs it. Knows nothing of how that is enforced.

use std::fs::File;
use std::io::Read as _;

use artel_engine::SandboxMode;
use artel_engine::process::{Network, Profile, Sandbox, Strictness};
use camino::{Utf8DirEntry, Utf8Path, Utf8PathBuf};

use super::config::{ClientHome, ClientNetwork, CommandDriverConfig};
use super::folder::Folders;
use super::program::Program;

/// Bytes of a script that are read for the interpreter in its first line.
const FIRST_LINE_BYTES_MAX: u64 = 512;
/// Where packages of node lie; each is a folder of its own below it.
const NODE_MODULES: &str = "node_modules";

/// Returns what a program may reach.
pub(super) fn sandbox(config: &CommandDriverConfig, program: &Program, folders: &Folders) -> Sandbox {
    let strictness = match config.sandbox {
        SandboxMode::Off => return Sandbox::Off,
        SandboxMode::Enforce => Strictness::Enforce,
        SandboxMode::BestEffort => Strictness::BestEffort,
    };
    let read = match &config.home {
        ClientHome::Private => Vec::new(),
        // Not written: what a program could leave there would run for the user, outside of any sandbox.
        ClientHome::Shared(home) => program.preset.settings.iter().map(|path| home.join(path)).collect(),
    };
    Sandbox::On(Profile {
        read,
        execute: [installed_in(config, &program.file), config.programs.clone()].concat(),
        write: vec![folders.work(), folders.private()],
        write_shared: Vec::new(),
        network: match config.network {
            ClientNetwork::AsPreset => program.preset.network.network,
            ClientNetwork::Denied => Network::Denied,
        },
        strictness,
    })
}

/// Returns where a program and the interpreter of its first line are executed from.
fn installed_in(config: &CommandDriverConfig, program: &Utf8Path) -> Vec<Utf8PathBuf> {
    let files = [Some(program.to_owned()), interpreter(config, program)];
    let mut places: Vec<Utf8PathBuf> =
        files.into_iter().flatten().flat_map(|file| places_of(config, &file)).collect();
    places.sort();
    places.dedup();
    places
}

/// Returns the folder of a program as it is named and the one that its links lead to. A folder that holds a home folder or
/// artel's work is not opened for the sake of one program in it: then it is the file alone.
fn places_of(config: &CommandDriverConfig, file: &Utf8Path) -> Vec<Utf8PathBuf> {
    let real = file.canonicalize_utf8().unwrap_or_else(|_| file.to_owned());
    let place = |file: &Utf8Path| {
        let folder = package_of(file).or_else(|| file.parent().map(Utf8Path::to_owned))?;
        Some(if is_shared(config, &folder) { file.to_owned() } else { folder })
    };
    let parts = package_of(&real).map(|package| platform_packages(&package)).unwrap_or_default();
    [place(file), place(&real)].into_iter().flatten().chain(parts).collect()
}

/// Returns the packages beside a package of node that are called after it: the program itself, built for each platform.
fn platform_packages(package: &Utf8Path) -> Vec<Utf8PathBuf> {
    let (Some(folder), Some(name)) = (package.parent(), package.file_name()) else { return Vec::new() };
    let beside = folder.read_dir_utf8().into_iter().flatten().flatten();
    let prefix = format!("{name}-");
    beside.filter(|entry| entry.file_name().starts_with(&prefix)).map(Utf8DirEntry::into_path).collect()
}

/// Says whether a folder holds more than programs.
fn is_shared(config: &CommandDriverConfig, folder: &Utf8Path) -> bool {
    let home = match &config.home {
        ClientHome::Shared(home) => Some(home.as_path()),
        ClientHome::Private => None,
    };
    let homes = config.environment.iter().filter(|(name, _)| name == "HOME").map(|(_, home)| home.as_str());
    let kept = homes.map(Utf8Path::new).chain(home).chain([config.work_root.as_path()]);
    folder.parent().is_none() || kept.into_iter().any(|kept| kept.starts_with(folder))
}

/// Returns the package of node that a file is a part of.
fn package_of(file: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut package = Utf8PathBuf::new();
    let mut parts = file.components();
    for part in parts.by_ref() {
        package.push(part.as_str());
        if part.as_str() == NODE_MODULES {
            break;
        }
    }
    let name = parts.next()?.as_str();
    package.push(name);
    if name.starts_with('@') {
        package.push(parts.next()?.as_str());
    }
    // The file itself is no package.
    parts.next().is_some().then_some(package)
}

/// Returns the interpreter that a script names, looked up as `env` would.
fn interpreter(config: &CommandDriverConfig, script: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE_BYTES_MAX).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let mut words = start.lines().next()?.strip_prefix("#!")?.split_ascii_whitespace();
    let named = Utf8PathBuf::from(words.next()?);
    if named.file_name() != Some("env") {
        return Some(named);
    }
    let word = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    config.path.iter().map(|folder| folder.join(word)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use artel_engine::process::ProcessLimits;

    use super::super::config::{AfterWork, ClientUsers, OwnCommands};
    use super::*;

    fn config(root: &Utf8Path) -> CommandDriverConfig {
        CommandDriverConfig {
            work_root: root.join("data/work"),
            path: vec![root.join("node/bin")],
            environment: vec![("HOME".to_owned(), root.join("home").into_string())],
            pass: Vec::new(),
            home: ClientHome::Private,
            own_commands: OwnCommands::Allowed,
            sandbox: SandboxMode::Enforce,
            users: ClientUsers::Artel,
            network: ClientNetwork::AsPreset,
            programs: Vec::new(),
            limits: ProcessLimits {
                cpu_s: 1,
                memory_bytes: 1,
                open_files: 1,
                processes: 1,
                file_bytes: 1,
                folder_bytes: 1,
            },
            grace_ms: 1,
            after: AfterWork::Remove,
        }
    }

    #[test]
    fn a_program_is_executed_from_where_it_lies_and_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(root.path()).unwrap().canonicalize_utf8().unwrap();
        let package = "node/lib/node_modules/@maker/client";
        let built = "node/lib/node_modules/@maker/client-linux-x64";
        let other = "node/lib/node_modules/@maker/other";
        for folder in ["home/.local/bin", "node/bin", "data", package, built, other] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        let entry = root.join(package).join("bin");
        fs::create_dir(&entry).unwrap();
        fs::write(entry.join("cli.js"), "#!/usr/bin/env -S node --quiet\n").unwrap();
        fs::write(root.join("node/bin/node"), "").unwrap();
        symlink(entry.join("cli.js"), root.join("home/.local/bin/client")).unwrap();
        let config = config(&root);
        let places = |file: &str| -> Vec<String> {
            let all = installed_in(&config, &root.join(file));
            all.iter().map(|place| place.strip_prefix(&root).unwrap_or(place).to_string()).collect()
        };
        assert_eq!(places("home/.local/bin/client"), ["home/.local/bin", "node/bin", package, built]);
        // A program that lies in a home folder, or beside artel's data, opens neither.
        for file in ["home/client", "data/client", "client"] {
            fs::write(root.join(file), "#!/bin/sh\n").unwrap();
            let places = places(file);
            assert!(places.iter().any(|place| place == file), "{places:?}");
            assert!(places.iter().all(|place| place == file || place.starts_with("/")), "{places:?}");
        }
    }
}
