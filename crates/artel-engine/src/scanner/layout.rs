//! Where a program and what it needs is installed, so that the sandbox lets it be read. Looks at the disk and decides nothing
//! else.

use std::fs::File;
use std::io::Read as _;

use camino::{Utf8Path, Utf8PathBuf};

/// What the folder that describes the scanner's package begins with.
const PACKAGE: &str = "cisco_ai_skill_scanner-";
/// The folders that Python keeps packages in.
const PACKAGE_FOLDERS: [&str; 2] = ["site-packages", "dist-packages"];
/// Bytes of the first line of a script.
const FIRST_LINE_BYTES_MAX: u64 = 1024;

/// Returns the folders that a program is executed from: its own, that of the interpreter in its first line, and where those
/// are parts of an installation, the whole of it.
pub(super) fn installed_in(program: &Utf8Path) -> Vec<Utf8PathBuf> {
    let interpreter = interpreter(program);
    let files = [Some(program.to_owned()), interpreter];
    let mut folders: Vec<Utf8PathBuf> = files
        .into_iter()
        .flatten()
        .flat_map(|file| [folder_of(&file), real_folder_of(&file)])
        .flatten()
        .collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Returns the version of the scanner that is installed with a program, without starting it, which takes seconds; nothing
/// when it was installed otherwise than Python's packages are.
pub fn installed_version(program: &Utf8Path) -> Option<String> {
    let versions = installed_in(program).into_iter().flat_map(|folder| packages(&folder.join("lib")));
    versions.filter_map(|package| version_of(package.file_name()?)).max()
}

/// Returns everything in the folders of packages: `lib/python3.12/site-packages` and the like.
fn packages(lib: &Utf8Path) -> Vec<Utf8PathBuf> {
    let inside = |folder: &Utf8Path| -> Vec<Utf8PathBuf> {
        let entries = folder.read_dir_utf8().into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.into_path())).collect()
    };
    let pythons = inside(lib)
        .into_iter()
        .filter(|path| path.file_name().is_some_and(|name| name.starts_with("python")));
    pythons
        .flat_map(|python| PACKAGE_FOLDERS.map(|folder| python.join(folder)))
        .flat_map(|folder| inside(&folder))
        .collect()
}

fn version_of(name: &str) -> Option<String> {
    Some(name.strip_prefix(PACKAGE)?.strip_suffix(".dist-info")?.to_owned())
}

fn real_folder_of(file: &Utf8Path) -> Option<Utf8PathBuf> {
    folder_of(&file.canonicalize_utf8().ok()?)
}

/// Returns the installation around a program, as Python's environments are; without one, the program's own folder, so that a
/// program in somebody's home does not open the home.
fn folder_of(file: &Utf8Path) -> Option<Utf8PathBuf> {
    let folder = file.parent()?;
    let around = folder.parent().filter(|around| around.parent().is_some());
    let is_installation = |around: &&Utf8Path| {
        folder.file_name() == Some("bin")
            && (around.join("pyvenv.cfg").is_file() || around.join("lib").is_dir())
    };
    Some(around.filter(is_installation).unwrap_or(folder).to_owned())
}

/// Returns the interpreter that a script names.
fn interpreter(script: &Utf8Path) -> Option<Utf8PathBuf> {
    let mut start = Vec::new();
    File::open(script).ok()?.take(FIRST_LINE_BYTES_MAX).read_to_end(&mut start).ok()?;
    let start = String::from_utf8_lossy(&start);
    let line = start.lines().next()?.strip_prefix("#!")?;
    line.split_ascii_whitespace().next().map(Utf8PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_environment_is_opened_as_a_whole_and_a_home_is_not() {
        let root = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(root.path()).unwrap().canonicalize_utf8().unwrap();
        for folder in ["home/bin", "python/bin", "python/lib", "env/bin"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        fs::write(root.join("python/bin/python3"), "").unwrap();
        symlink(root.join("python/bin/python3"), root.join("env/bin/python3")).unwrap();
        fs::write(root.join("env/pyvenv.cfg"), "").unwrap();
        fs::write(root.join("env/bin/scanner"), format!("#!{root}/env/bin/python3 -I\nx")).unwrap();
        symlink(root.join("env/bin/scanner"), root.join("home/bin/scanner")).unwrap();
        let expected = ["env", "home/bin", "python"].map(|folder| root.join(folder));
        assert_eq!(installed_in(&root.join("home/bin/scanner")), expected);
        assert_eq!(installed_in(Utf8Path::new("/usr/bin/none")), ["/usr"]);
        assert_eq!(installed_version(&root.join("home/bin/scanner")), None);
        let package = "env/lib/python3.12/site-packages/cisco_ai_skill_scanner-2.3.2.dist-info";
        fs::create_dir_all(root.join(package)).unwrap();
        assert_eq!(installed_version(&root.join("home/bin/scanner")).as_deref(), Some("2.3.2"));
    }
}
