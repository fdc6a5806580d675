//! The hostile suite of the sandbox: every probe of `fixtures/hostile/sandbox.toml`, as root and as an ordinary user. The
//! table says what is tried and how it has to be refused; what lies outside has to be as it was in the end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::os::unix::fs::MetadataExt as _;

use camino::Utf8PathBuf;
use serde::Deserialize;

use crate::start::{Ended, Ground, PYTHON, User, outside};

/// The fewest probes that the suite has to have.
const PROBES_MIN: usize = 40;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    probe: Vec<Probe>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Probe {
    name: String,
    r#try: String,
    refused: Vec<String>,
    #[serde(default)]
    network: bool,
}

const CALLS: &[(&str, i64)] = &[
    ("sched_setattr", libc::SYS_sched_setattr),
    ("prlimit64", libc::SYS_prlimit64),
    ("ioprio_set", libc::SYS_ioprio_set),
    ("move_pages", libc::SYS_move_pages),
    ("migrate_pages", libc::SYS_migrate_pages),
    ("capset", libc::SYS_capset),
    ("ptrace", libc::SYS_ptrace),
    ("prctl", libc::SYS_prctl),
    ("inotify_add_watch", libc::SYS_inotify_add_watch),
    ("inotify_init1", libc::SYS_inotify_init1),
    ("fanotify_init", libc::SYS_fanotify_init),
    ("fanotify_mark", libc::SYS_fanotify_mark),
    ("io_uring_setup", libc::SYS_io_uring_setup),
    ("unshare", libc::SYS_unshare),
    ("mount", libc::SYS_mount),
    ("chroot", libc::SYS_chroot),
    ("open_by_handle_at", libc::SYS_open_by_handle_at),
];

/// What lies outside of the sandbox and belongs to its user.
struct Victims {
    file: Utf8PathBuf,
    folder: Utf8PathBuf,
    script: Utf8PathBuf,
    process: std::process::Child,
}

impl Victims {
    fn make(ground: &Ground, user: User) -> Self {
        let file = ground.write("home/victim", "text");
        let script = ground.write("skill/script", "#!/bin/sh\n");
        std::os::unix::fs::symlink("victim", ground.path("home/link")).unwrap();
        // What belongs to the very user that the sandbox has is the hardest to keep from it.
        for path in [&file, &script, &ground.path("home/link")] {
            std::os::unix::fs::lchown(path, user.number(), user.number()).unwrap();
        }
        let command = user.command("/bin/sleep");
        let process = outside(&command[0]).args(&command[1..]).arg("1000").spawn().unwrap();
        Self { file, folder: ground.path("home"), script, process }
    }

    /// Describes everything that a probe could change.
    fn state(&self) -> String {
        let paths = [&self.file, &self.folder, &self.script];
        let files = paths.map(|path| {
            let found = std::fs::symlink_metadata(path).unwrap();
            (found.mode(), found.uid(), found.gid(), found.mtime(), found.mtime_nsec(), found.nlink())
        });
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", self.process.id())).unwrap();
        format!("{files:?}\n{limits}")
    }

    fn fill_in(&self, text: &str) -> String {
        let mut text = text
            .replace("{victim}", self.file.as_str())
            .replace("{folder}", self.folder.as_str())
            .replace("{skill}", self.script.parent().unwrap().as_str())
            .replace("{pid}", &self.process.id().to_string());
        for (name, number) in CALLS {
            text = text.replace(&format!("{{{name}}}"), &number.to_string());
        }
        text
    }
}

impl Drop for Victims {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn attempt(ground: &Ground, statement: &str, network: bool) -> Ended {
    let script = format!(
        "import os, sys, errno, socket, ctypes, signal, resource, fcntl\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         def call(*arguments):\n\
         \x20   if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), 'call')\n\
         try:\n\
         \x20   {statement}\n\
         \x20   print('done')\n\
         except OSError as error:\n\
         \x20   print(errno.errorcode[error.errno])\n"
    );
    if network { ground.python_with_network(&script).await } else { ground.python(&script).await }
}

async fn run_probes(user: User) {
    let text = include_str!("../../../../fixtures/hostile/sandbox.toml");
    let table: Table = toml::from_str(text).unwrap_or_else(|error| panic!("{}", error.message()));
    assert!(table.probe.len() >= PROBES_MIN);
    let ground = Ground::of(user).await;
    let mut victims = Victims::make(&ground, user);
    let before = victims.state();
    let mut wrong = Vec::new();
    for probe in &table.probe {
        let ended = attempt(&ground, &victims.fill_in(&probe.r#try), probe.network).await;
        let said = ended.stdout.trim();
        if !probe.refused.iter().any(|error| error == said) {
            wrong.push(format!("{}: `{said}` {:?} {}", probe.name, ended.exit, ended.stderr.trim()));
        }
        // What a probe left in the run folder is not for the next.
        for entry in std::fs::read_dir(ground.path("run")).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
    }
    assert!(wrong.is_empty(), "as {user:?}:\n{}", wrong.join("\n"));
    assert!(victims.process.try_wait().unwrap().is_none(), "the process outside has ended");
    assert_eq!(victims.state(), before);
}

#[tokio::test]
async fn every_probe_is_refused() {
    run_probes(User::Own).await;
}

#[tokio::test]
async fn every_probe_of_an_ordinary_user_is_refused() {
    for user in User::all().into_iter().filter(|user| *user == User::Ordinary) {
        run_probes(user).await;
    }
}

#[tokio::test]
async fn every_probe_of_a_user_of_its_own_is_refused() {
    for user in User::all().into_iter().filter(|user| *user == User::RootForAnother) {
        run_probes(user).await;
    }
}

// What ordinary programs do with modes and times has to go on working.

#[tokio::test]
async fn modes_and_times_of_own_files_can_be_changed() {
    for user in User::all() {
        let ground = Ground::of(user).await;
        let bash = "set -e\n\
            umask 022; mkdir -p a/b; echo x > a/b/f; chmod 640 a/b/f; touch -d '2001-02-03 04:05:06 UTC' a/b/f\n\
            cp -p a/b/f copy; cp -a a tree; ln -s f a/b/l; touch -h -d '2002-01-01 UTC' a/b/l\n\
            tar -cf t.tar a; mkdir out; tar -xpf t.tar -C out; chown \"$(id -u):$(id -g)\" copy\n\
            chmod 1777 out; install -m 751 copy installed\n\
            stat -c '%a %Y' copy tree/b/f out/a/b/f; stat -c %a out installed; stat -c %Y a/b/l out/a/b/l";
        let expected = "640 981173106\n640 981173106\n640 981173106\n1777\n751\n1009843200\n1009843200";
        assert_eq!(ground.bash(bash).await.fine(), expected, "{user:?}");
        let python = "import os, shutil, tempfile\n\
            open('p', 'w').write('x'); os.utime('p', ns=(5, 7)); os.chmod('p', 0o604)\n\
            shutil.copy2('p', 'q'); f = os.open('q', os.O_RDWR); os.fchmod(f, 0o711); os.utime(f, (9, 9))\n\
            d = os.open('.', os.O_RDONLY); os.chmod('p', 0o600, dir_fd=d); os.utime('p', (3, 4), dir_fd=d)\n\
            with tempfile.TemporaryFile() as t: os.fchmod(t.fileno(), 0o640); print(oct(os.fstat(t.fileno()).st_mode))\n\
            s, t = os.stat('p'), os.stat('q'); print(oct(s.st_mode), s.st_mtime, oct(t.st_mode), t.st_mtime)\n\
            try: os.chmod('missing', 0o600)\n\
            except FileNotFoundError: print('missing')";
        let expected = "0o100640\n0o100600 4.0 0o100711 9.0\nmissing";
        assert_eq!(ground.python(python).await.fine(), expected, "{user:?}");
    }
}

#[tokio::test]
async fn a_file_that_changes_places_with_one_outside_is_never_hit() {
    for user in User::all() {
        let ground = Ground::of(user).await;
        let victims = Victims::make(&ground, user);
        let before = victims.state();
        // One process changes the mode, the other swaps a file with a link to the victim as fast as it can.
        let script = format!(
            "import os\n\
             open('file', 'w').close(); os.symlink('{}', 'link')\n\
             libc = __import__('ctypes').CDLL(None)\n\
             if os.fork() == 0:\n\
             \x20   for _ in range(3000): libc.renameat2(-100, b'file', -100, b'link', 2)\n\
             \x20   os._exit(0)\n\
             hits = 0\n\
             for _ in range(1500):\n\
             \x20   try: os.chmod('file', 0o666); hits += 1\n\
             \x20   except OSError: pass\n\
             os.wait(); print(hits > 0)",
            victims.file
        );
        assert_eq!(ground.run(ground.request(PYTHON, &["-c", &script])).await.fine(), "True", "{user:?}");
        assert_eq!(victims.state(), before);
    }
}
