//! Users of their own: what a process that root starts as another user is, can do, and cannot.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop there")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use artel_engine::process::{
    ClosedFiles, ExitStatus, Limit, Profile, RunAs, Sandbox, SpawnError, SpawnRequest, can_run_as,
};
use artel_engine::remove_folder;

use crate::start::{ANOTHER, Ended, Ground, PYTHON, User, another, finish};

/// Another user beside the usual one of the tests.
const NEIGHBOUR: u32 = ANOTHER + 1;

/// Only root can check anything here.
async fn ground() -> Option<Ground> {
    match User::all().contains(&User::RootForAnother) {
        true => Some(Ground::of(User::RootForAnother).await),
        false => None,
    }
}

/// Makes the folder of a neighbour, whose processes run as another user.
fn neighbour(ground: &Ground, arguments: &[&str]) -> SpawnRequest {
    let folder = ground.path("neighbour");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    chown(&folder, Some(NEIGHBOUR), Some(NEIGHBOUR)).unwrap();
    SpawnRequest {
        cwd: folder.clone(),
        run_as: another(NEIGHBOUR),
        sandbox: Sandbox::On(Profile { write: vec![folder], ..ground.profile() }),
        ..ground.request(PYTHON, arguments)
    }
}

async fn python(ground: &Ground, script: &str) -> Ended {
    ground.run(ground.request(PYTHON, &["-c", script])).await
}

#[tokio::test]
async fn a_process_has_its_user_no_groups_and_one_privilege() {
    let Some(ground) = ground().await else { return };
    let script = "wanted = ('Uid', 'Gid', 'Groups', 'CapPrm', 'CapEff', 'CapInh', 'CapAmb', 'NoNewPrivs')\n\
                  for line in open('/proc/self/status'):\n\
                  \x20   if line.startswith(wanted): print(' '.join(line.split()))";
    let ended = python(&ground, script).await;
    let user = format!("{ANOTHER} {ANOTHER} {ANOTHER} {ANOTHER}");
    // To read what is closed to others, and go through folders: landlock says which.
    let read = "0000000000000004";
    let expected = format!(
        "Uid: {user} Gid: {user} Groups: CapInh: {read} CapPrm: {read} CapEff: {read} CapAmb: {read} NoNewPrivs: 1"
    );
    assert_eq!(ended.fine().replace('\n', " "), expected);
}

#[tokio::test]
async fn two_users_cannot_touch_each_other() {
    let Some(ground) = ground().await else { return };
    let secret = ground.write("artel/artel.db", "secret");
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    let waiting =
        "import os, sys\nopen('mine', 'w').write('x'); print(os.getuid(), flush=True); sys.stdin.read()";
    let mut child = ground.launcher.spawn(neighbour(&ground, &["-c", waiting])).await.unwrap();
    let mut line = [0; 64];
    let count = tokio::io::AsyncReadExt::read(&mut child.stdout, &mut line).await.unwrap();
    assert_eq!(std::str::from_utf8(&line[..count]).unwrap().trim(), NEIGHBOUR.to_string());
    let script = format!(
        "import os, errno\n\
         def attempt(name, action):\n\
         \x20   try: action(); print(name, 'done')\n\
         \x20   except OSError as error: print(name, errno.errorcode[error.errno])\n\
         print(os.getuid())\n\
         attempt('signal', lambda: os.kill({pid}, 15))\n\
         attempt('memory', lambda: open('/proc/{pid}/mem', 'rb').read(1))\n\
         attempt('environment', lambda: open('/proc/{pid}/environ', 'rb').read(1))\n\
         attempt('folder', lambda: os.listdir('{folder}'))\n\
         attempt('file', lambda: open('{folder}/mine').read())\n\
         attempt('database', lambda: open('{secret}').read())\n\
         attempt('mode', lambda: os.chmod('{secret}', 0o666))\n\
         attempt('own', lambda: open('made', 'w').write('x'))",
        pid = child.pid,
        folder = ground.path("neighbour"),
    );
    let ended = python(&ground, &script).await;
    let expected = format!(
        "{ANOTHER}\nsignal EPERM\nmemory EACCES\nenvironment EACCES\nfolder EACCES\nfile EACCES\ndatabase EACCES\n\
         mode EPERM\nown done"
    );
    assert_eq!(ended.fine(), expected);
    let made = fs::metadata(ground.path("run/made")).unwrap();
    assert_eq!((made.uid(), made.gid()), (ANOTHER, ANOTHER));
    assert_eq!(finish(child).await.exit.status, ExitStatus::Code(0));
    for folder in ["run", "neighbour"] {
        remove_folder(&ground.path(folder)).unwrap();
    }
}

#[tokio::test]
async fn files_that_are_closed_to_others_can_be_read_and_executed_but_not_written() {
    let Some(ground) = ground().await else { return };
    fs::write(ground.path("skill/data.txt"), "text").unwrap();
    fs::write(
        ground.path("skill/main"),
        "#!/bin/sh\ncat \"$1/data.txt\"; \"$1/helper\"; echo x > \"$1/data.txt\"\n",
    )
    .unwrap();
    fs::write(ground.path("skill/helper"), "#!/bin/sh\necho helped\n").unwrap();
    for (file, mode) in [("data.txt", 0o600), ("main", 0o700), ("helper", 0o711), ("", 0o700)] {
        fs::set_permissions(ground.path("skill").join(file), Permissions::from_mode(mode)).unwrap();
    }
    fs::set_permissions(ground.path(""), Permissions::from_mode(0o700)).unwrap();
    let skill = ground.path("skill");
    let request = ground.request(ground.path("skill/main").as_str(), &[skill.as_str()]);
    let ended = ground.run(request).await;
    assert_eq!(ended.stdout, "texthelped\n", "{ended:?}");
    assert!(ended.stderr.contains("Permission denied"), "{ended:?}");
    assert_eq!(fs::read_to_string(ground.path("skill/data.txt")).unwrap(), "text");
}

#[tokio::test]
async fn a_folder_that_the_operator_granted_can_be_written() {
    let Some(ground) = ground().await else { return };
    let home = ground.path("home");
    fs::set_permissions(&home, Permissions::from_mode(0o700)).unwrap();
    let script = format!("open('{home}/made', 'w').write('x')");
    let granted = Sandbox::On(Profile { write_shared: vec![home.clone()], ..ground.profile() });
    let request = SpawnRequest { sandbox: granted, ..ground.request(PYTHON, &["-c", &script]) };
    let refused = ground.run(request.clone()).await;
    assert!(refused.stderr.contains("Permission"), "{refused:?}");
    let run_as = RunAs::User { user: ANOTHER, group: ANOTHER, closed_files: ClosedFiles::Use };
    ground.run(SpawnRequest { run_as, ..request }).await.fine();
    assert_eq!(fs::metadata(home.join("made")).unwrap().uid(), ANOTHER);
}

#[tokio::test]
async fn what_another_user_uses_is_still_counted() {
    let Some(ground) = ground().await else { return };
    let hidden = "import os, time\nf = open('f', 'wb'); os.unlink('f')\n\
                  for _ in range(40): f.write(bytes(1 << 20)); f.flush()\n\
                  time.sleep(60)";
    let mut request = ground.request(PYTHON, &["-c", hidden]);
    request.limits.folder_bytes = 16 << 20;
    let ended = ground.run(request).await;
    assert_eq!(ended.exit.limit.map(|reached| reached.limit), Some(Limit::Folder), "{ended:?}");
}

#[tokio::test]
async fn only_a_process_in_the_sandbox_runs_as_another_user() {
    let Some(ground) = ground().await else { return };
    let request = SpawnRequest { sandbox: Sandbox::Off, ..ground.request("/bin/true", &[]) };
    let Err(SpawnError::Failed { .. }) = ground.launcher.spawn(request).await else {
        panic!("it has to be refused");
    };
    assert_eq!(can_run_as(ANOTHER..=NEIGHBOUR), Ok(()));
}
