//! The sandbox: one test a promise, and beside it that what is allowed works.

use std::io::Read as _;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};

use artel_engine::process::{CgroupChoice, Profile, Sandbox, probe};

use crate::start::{Ended, Ground, PYTHON, exists, outside, variable};

/// Checks that a Python expression is refused with one of these errors.
#[track_caller]
fn refused(ended: &Ended, errors: &[&str]) {
    let said = ended.fine();
    assert!(errors.contains(&said), "{said} is none of {errors:?}");
}

/// Runs a Python statement and prints the name of the error it raises, or `done`.
async fn attempt(ground: &Ground, statement: &str) -> Ended {
    ground.python(&guarded(statement)).await
}

fn guarded(statement: &str) -> String {
    format!(
        "import os, sys, errno, socket, ctypes, signal, subprocess\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         def call(*arguments):\n\
         \x20   if libc.syscall(*arguments) < 0: raise OSError(ctypes.get_errno(), 'call')\n\
         try:\n\
         \x20   {statement}\n\
         \x20   print('done')\n\
         except OSError as error:\n\
         \x20   print(errno.errorcode[error.errno] if error.errno in errno.errorcode else type(error).__name__)\n"
    )
}

#[tokio::test]
async fn this_machine_can_enforce() {
    let ground = Ground::new().await;
    assert_eq!(*ground.launcher.report(), probe(&CgroupChoice::Auto));
    assert_eq!(ground.launcher.report().missing(), []);
}

// Files.

#[tokio::test]
async fn other_folders_cannot_be_read() {
    let ground = Ground::new().await;
    let home = variable("HOME").unwrap();
    for folder in ["home", "other-skill", "artel"] {
        let secret = ground.write(&format!("{folder}/secret"), "secret");
        refused(&attempt(&ground, &format!("open('{secret}').read()")).await, &["EACCES"]);
        refused(&attempt(&ground, &format!("os.listdir('{}')", ground.path(folder))).await, &["EACCES"]);
    }
    for folder in [home.as_str(), "/root", "/home", "/tmp", "/var", "/", "/etc", "/dev"] {
        refused(&attempt(&ground, &format!("os.listdir('{folder}')")).await, &["EACCES"]);
    }
    refused(&attempt(&ground, "open('/etc/shadow').read()").await, &["EACCES"]);
}

#[tokio::test]
async fn its_own_folders_can_be_used() {
    let ground = Ground::new().await;
    ground.write("skill/lib.py", "value = 7");
    let script = format!(
        "import sys; sys.path.insert(0, '{}'); sys.dont_write_bytecode = True\n\
         import lib, os, tempfile\n\
         open('a', 'w').write('x'); os.mkdir('d'); os.rename('a', 'd/b'); os.symlink('d/b', 'l'); os.link('d/b', 'h')\n\
         open('l', 'a').write('y'); os.truncate('h', 1); os.mkfifo('f'); os.remove('f')\n\
         with tempfile.TemporaryDirectory() as folder: open(folder + '/t', 'w').write('t')\n\
         with tempfile.TemporaryFile() as file: file.write(b't')\n\
         os.chmod('h', 0o700)\n\
         print(lib.value, open('h').read(), sorted(os.listdir('.')))",
        ground.path("skill")
    );
    assert_eq!(ground.python(&script).await.fine(), "7 x ['d', 'h', 'l']");
}

#[tokio::test]
async fn nothing_else_can_be_written() {
    let ground = Ground::new().await;
    let victim = ground.write("home/victim", "text");
    let statements = [
        format!("open('{victim}', 'w')"),
        format!("open('{victim}', 'a')"),
        format!("os.truncate('{victim}', 0)"),
        format!("os.remove('{victim}')"),
        format!("os.rename('{victim}', 'stolen')"),
        format!("os.link('{victim}', 'stolen')"),
        format!("os.mkdir('{}')", ground.path("home/folder")),
        format!("os.symlink('/', '{}')", ground.path("home/link")),
        format!("open('{}', 'w')", ground.path("skill/script")),
        format!("os.mkfifo('{}')", ground.path("skill/fifo")),
        "open('/tmp/artel-test-outside', 'w')".to_owned(),
        "open('/usr/artel-test-outside', 'w')".to_owned(),
        "open('/dev/shm/artel-test-outside', 'w')".to_owned(),
        "open('/proc/self/oom_score_adj', 'w')".to_owned(),
        "open('/proc/sys/kernel/hostname', 'w')".to_owned(),
        "os.mknod('device', 0o20600, os.makedev(1, 1))".to_owned(),
        "os.mknod('device', 0o60600, os.makedev(8, 0))".to_owned(),
    ];
    for statement in statements {
        refused(&attempt(&ground, &statement).await, &["EACCES", "EXDEV", "EPERM"]);
    }
    assert_eq!(std::fs::read_to_string(victim).unwrap(), "text");
}

#[tokio::test]
async fn links_do_not_lead_out() {
    let ground = Ground::new().await;
    let secret = ground.write("home/secret", "secret");
    std::os::unix::fs::symlink(&secret, ground.path("skill/link")).unwrap();
    std::os::unix::fs::symlink(ground.path("home"), ground.path("run/folder")).unwrap();
    refused(&attempt(&ground, &format!("open('{}').read()", ground.path("skill/link"))).await, &["EACCES"]);
    refused(&attempt(&ground, "open('folder/secret').read()").await, &["EACCES"]);
    refused(&attempt(&ground, "open('folder/new', 'w')").await, &["EACCES"]);
    refused(&attempt(&ground, "os.symlink('/etc/shadow', 's'); open('s').read()").await, &["EACCES"]);
}

#[tokio::test]
async fn wishes_that_were_granted_come_true() {
    let ground = Ground::new().await;
    ground.write("home/notes", "notes");
    let mut request = ground.request(
        PYTHON,
        &["-c", "print(open('../home/notes').read(), open('../artel/x', 'w').write('abc'))"],
    );
    request.sandbox = Sandbox::On(Profile {
        read: vec![ground.path("home"), ground.path("not-there")],
        write_shared: vec![ground.path("artel")],
        ..ground.profile()
    });
    assert_eq!(ground.run(request).await.fine(), "notes 3");
}

#[tokio::test]
async fn programs_outside_cannot_be_executed_but_those_it_made_can() {
    use std::os::unix::fs::PermissionsExt as _;
    let ground = Ground::new().await;
    let outside = ground.write("home/program", "#!/bin/sh\necho hello\n");
    std::fs::set_permissions(&outside, std::fs::Permissions::from_mode(0o755)).unwrap();
    refused(&attempt(&ground, &format!("os.execv('{outside}', ['x'])")).await, &["EACCES"]);
    let script = "printf '#!/bin/sh\\necho made\\n' > made; chmod +x made; ./made";
    assert_eq!(ground.bash(script).await.fine(), "made");
}

// Network.

#[tokio::test]
async fn there_is_no_network_unless_it_is_allowed() {
    let ground = Ground::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("socket.create_connection(('127.0.0.1', {port})).sendall(b'hello')");
    refused(&attempt(&ground, &connect).await, &["EPERM"]);
    for statement in [
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
        "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)",
        "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)",
        "socket.socket(40, socket.SOCK_STREAM)",
    ] {
        refused(&attempt(&ground, statement).await, &["EPERM"]);
    }
    let ended = ground.python("import socket\ntry: socket.getaddrinfo('example.org', 80)\nexcept socket.gaierror as e: print('no', e.errno)").await;
    assert!(ended.fine().starts_with("no -"), "{ended:?}");

    assert_eq!(ground.python_with_network(&guarded(&connect)).await.fine(), "done");
    let mut text = String::new();
    listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
    let others = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen()";
    assert_eq!(ground.python_with_network(&guarded(others)).await.fine(), "done");
}

#[tokio::test]
async fn sockets_of_other_programs_are_out_of_reach() {
    let ground = Ground::new().await;
    let path = ground.path("run/socket");
    let listener = UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let name = format!("artel-test-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(&name).unwrap();
    let hidden = UnixListener::bind_addr(&address).unwrap();
    hidden.set_nonblocking(true).unwrap();
    for target in [format!("'{path}'"), format!("'\\0{name}'")] {
        for kind in ["SOCK_STREAM", "SOCK_DGRAM"] {
            let statement = format!("socket.socket(socket.AF_UNIX, socket.{kind}).connect({target})");
            refused(&attempt(&ground, &statement).await, &["EPERM"]);
            refused(&ground.python_with_network(&guarded(&statement)).await, &["EPERM"]);
        }
    }
    assert!(listener.accept().is_err() && hidden.accept().is_err());
    let pair = "a, b = socket.socketpair(); a.sendall(b'x'); assert b.recv(1) == b'x'";
    assert_eq!(attempt(&ground, pair).await.fine(), "done");
}

// The kernel and other processes.

#[tokio::test]
async fn dangerous_calls_are_refused() {
    let ground = Ground::new().await;
    // A call by its number and arguments; all would fail otherwise, but with another error.
    let calls = [
        (libc::SYS_ptrace, "0, 0, 0, 0"),
        (libc::SYS_process_vm_readv, "1, None, 0, None, 0, 0"),
        (libc::SYS_mount, "b'none', b'.', b'tmpfs', 0, None"),
        (libc::SYS_umount2, "b'/proc', 0"),
        (libc::SYS_chroot, "b'.'"),
        (libc::SYS_bpf, "0, None, 0"),
        (libc::SYS_keyctl, "0, 0, 0, 0, 0"),
        (libc::SYS_add_key, "b'user', b'x', b'y', 1, -1"),
        (libc::SYS_perf_event_open, "None, 0, -1, -1, 0"),
        (libc::SYS_init_module, "None, 0, b''"),
        (libc::SYS_unshare, "0x10000000"),
        (libc::SYS_unshare, "0x20000"),
        (libc::SYS_setns, "0, 0"),
        (libc::SYS_clone, "0x10000011, 0, 0, 0, 0"),
        (libc::SYS_io_uring_setup, "1, None"),
        (libc::SYS_userfaultfd, "0"),
        (libc::SYS_reboot, "0, 0, 0, None"),
        (libc::SYS_clock_settime, "0, None"),
        (libc::SYS_open_by_handle_at, "-1, None, 0"),
        (libc::SYS_shmget, "0, 4096, 0o1600"),
    ];
    for (number, arguments) in calls {
        let ended = attempt(&ground, &format!("call({number}, {arguments})")).await;
        assert_eq!(ended.fine(), "EPERM", "{number}");
    }
    let clone3 = format!("call({}, None, 0)", libc::SYS_clone3);
    assert_eq!(attempt(&ground, &clone3).await.fine(), "ENOSYS");
}

#[tokio::test]
async fn privileges_are_given_up() {
    let ground = Ground::new().await;
    let status = ground.bash("cat /proc/self/status").await;
    let field = |name: &str| {
        let line = status.fine().lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(field("NoNewPrivs:"), "1");
    assert_eq!(field("Seccomp:"), "2");
    let capabilities = u64::from_str_radix(&field("CapEff:"), 16).unwrap();
    assert_eq!(capabilities & !0b10, 0, "{capabilities:x}");
    assert_eq!(field("SigBlk:"), "0000000000000000");
    assert_eq!(field("SigIgn:"), "0000000000000000");
}

#[tokio::test]
async fn no_process_leaves_its_group() {
    let ground = Ground::new().await;
    refused(&attempt(&ground, "subprocess.run(['true'], start_new_session=True)").await, &["EPERM"]);
    refused(&attempt(&ground, "os.setpgid(0, 0)").await, &["EPERM"]);
}

#[tokio::test]
async fn other_processes_are_hidden_and_cannot_be_signalled() {
    let ground = Ground::new().await;
    let own = std::process::id();
    for file in ["mem", "environ", "maps"] {
        refused(
            &attempt(&ground, &format!("open('/proc/{own}/{file}', 'rb').read(1)")).await,
            &["EACCES", "EPERM"],
        );
    }
    for link in ["exe", "cwd", "fd/1"] {
        refused(&attempt(&ground, &format!("os.readlink('/proc/{own}/{link}')")).await, &["EACCES", "EPERM"]);
    }
    refused(&attempt(&ground, &format!("open('/proc/{own}/fd/1', 'wb')")).await, &["EACCES", "EPERM"]);
    let mut victim = outside("/bin/sleep").arg("1000").spawn().unwrap();
    for target in [victim.id(), own] {
        refused(&attempt(&ground, &format!("os.kill({target}, signal.SIGKILL)")).await, &["EPERM"]);
        refused(&attempt(&ground, &format!("os.kill({target}, 0)")).await, &["EPERM"]);
    }
    refused(&attempt(&ground, "os.kill(os.getppid(), signal.SIGKILL)").await, &["EPERM"]);
    assert!(victim.try_wait().unwrap().is_none());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let own_child = "p = subprocess.Popen(['sleep', '1000']); p.kill(); assert p.wait() == -9";
    assert_eq!(attempt(&ground, own_child).await.fine(), "done");
}

#[tokio::test]
async fn only_the_standard_streams_are_open() {
    let ground = Ground::new().await;
    for sandbox in [Sandbox::On(ground.profile()), Sandbox::Off] {
        // The listing itself is descriptor 3.
        let mut request = ground
            .request(PYTHON, &["-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"]);
        request.sandbox = sandbox;
        assert_eq!(ground.run(request).await.fine(), "[0, 1, 2, 3]");
    }
}

#[tokio::test]
async fn what_artel_preloads_does_not_reach_a_process() {
    let ground = Ground::new().await;
    // The launcher of this test was started by a program with an environment of its own.
    let ended = ground.bash("cat /proc/self/environ | tr '\\0' '\\n' | cut -d= -f1 | sort").await;
    assert_eq!(ended.fine(), "HOME\nPATH\nPWD\nSHLVL\nTMPDIR\n_");
    let launcher: i32 = ground.bash("echo $PPID").await.fine().parse().unwrap();
    assert!(exists(launcher));
    assert_eq!(std::fs::read(format!("/proc/{launcher}/environ")).unwrap(), b"");
}

// What ordinary programs do.

#[tokio::test]
async fn ordinary_programs_work() {
    let ground = Ground::new().await;
    let bash = "set -euo pipefail\n\
                diff <(echo a) <(echo a)\n\
                cat <<< text | tr a-z A-Z > /dev/stdout\n\
                echo told > /dev/stderr\n\
                seq 1 1000 | xargs -P4 -n100 echo > many\n\
                find . -name many | wc -l\n\
                date > /dev/null; id -un > /dev/null; head -c 10 /dev/urandom | wc -c\n";
    assert_eq!(ground.bash(bash).await.fine(), "TEXT\n1\n10");
    let python = "import threading, subprocess, concurrent.futures, sqlite3, ssl, asyncio\n\
                  seen = []\n\
                  threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(8)]\n\
                  [t.start() for t in threads]; [t.join() for t in threads]\n\
                  with concurrent.futures.ThreadPoolExecutor() as pool: total = sum(pool.map(abs, range(-3, 4)))\n\
                  db = sqlite3.connect('test.db'); db.execute('create table t(a)'); db.commit()\n\
                  asyncio.run(asyncio.sleep(0))\n\
                  print(len(seen), total, subprocess.run(['echo', 'hi'], capture_output=True, text=True).stdout.strip())";
    assert_eq!(ground.python(python).await.fine(), "8 12 hi");
}

#[tokio::test]
async fn processes_that_share_memory_by_name_have_to_ask() {
    let ground = Ground::new().await;
    let script = "from concurrent.futures import ProcessPoolExecutor\n\
                  with ProcessPoolExecutor(2) as pool: print(sum(pool.map(abs, [-1, 2])))";
    let ended = ground.python(script).await;
    assert!(!ended.exit.is_success() && ended.stderr.contains("Permission denied"), "{ended:?}");
    let mut request = ground.request(PYTHON, &["-c", script]);
    request.sandbox = Sandbox::On(Profile { write_shared: vec!["/dev/shm".into()], ..ground.profile() });
    assert_eq!(ground.run(request).await.fine(), "3");
}
