//! What the functions of Python and JavaScript do that matters here. Data: who asks is `flow_call`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a function does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Effect {
    /// Sends its arguments to the address in the first one, and returns what comes back.
    Request,
    /// Sends its arguments to whatever its object is connected to.
    SendRaw,
    /// Connects a raw socket.
    Connect,
    /// Receives from a raw socket.
    Receive,
    /// Joins the standard streams to something else.
    JoinStreams,
    /// Runs a text as a shell command.
    Shell,
    /// Runs a program with its arguments; as a shell command when told so.
    Program,
    /// Runs a text as code of the same language.
    Code,
    /// Runs the file in its first argument.
    RunFile,
    /// Saves what is at the address in its first argument to the file in the second one.
    Save,
    /// Loads an object that may run code.
    Unpickle,
    /// Opens a file.
    Open,
    /// Reads the file in its first argument.
    ReadFile,
    /// Reads the file that its object is.
    ReadSelf,
    /// Writes the second argument to the file in the first one.
    WriteFile,
    /// Writes the first argument to the file that its object is.
    WriteSelf,
    /// Copies the file in the first argument to the second one.
    CopyFile,
    /// Deletes a folder with all it holds.
    DeleteTree,
    /// Deletes a file.
    DeleteFile,
    /// Only gives a value.
    Gives(Source),
}

/// Where a function's value comes from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Source {
    /// Walks through a folder.
    Walk,
    /// Returns a variable of the environment, or all of them.
    Environment,
    /// Returns what the caller gave.
    Input,
    /// Returns facts about the machine.
    Host,
    /// Returns something personal.
    Personal,
    /// Returns secrets from a store of secrets.
    Secret,
    /// Watches what is typed.
    Watch,
    Decode(Codec),
    Encrypt,
    /// Returns the home folder.
    Home,
    /// Puts paths one below the other.
    JoinPath,
    /// Puts the items of its argument together, with its object in between.
    JoinText,
    /// Returns the character of a number.
    Character,
    /// Does to each item of the second argument what the function in the first one does.
    Map,
    /// Returns a module by its name.
    Module,
    /// Returns a member by its name.
    GetMember,
    /// Returns its object or its first argument, in another shape.
    Same,
}

/// How something is encoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Codec {
    Base64,
    Hex,
    Rot13,
    /// One that is not decoded here.
    Other,
}

/// A language that is followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Dialect {
    Python,
    JavaScript,
}

type Names = BTreeMap<&'static str, Effect>;

static PYTHON_NAMES: LazyLock<Names> = LazyLock::new(|| by_name(PYTHON));
static JAVASCRIPT_NAMES: LazyLock<Names> = LazyLock::new(|| by_name(JAVASCRIPT));

fn by_name(table: &[(&[&'static str], Effect)]) -> Names {
    table.iter().flat_map(|(names, effect)| names.iter().map(|name| (*name, *effect))).collect()
}

/// Returns what a function does, by its full name or by its last part.
pub(super) fn effect(dialect: Dialect, name: &str) -> Option<Effect> {
    let known = match dialect {
        Dialect::Python => PYTHON_NAMES.get(name),
        Dialect::JavaScript => JAVASCRIPT_NAMES.get(name),
    };
    let known = known.copied();
    let last = name.rsplit('.').next().unwrap_or_default();
    known.or_else(|| if name.contains('.') { method(dialect, last) } else { None })
}

/// Functions of Python and of packages that many use.
const PYTHON: &[(&[&str], Effect)] = &[
    (
        &[
            "requests.get",
            "requests.post",
            "requests.put",
            "requests.patch",
            "requests.delete",
            "requests.request",
            "requests.head",
            "httpx.get",
            "httpx.post",
            "httpx.put",
            "httpx.request",
            "httpx.stream",
            "urllib.request.urlopen",
            "urllib.request.Request",
            "urllib2.urlopen",
            "aiohttp.request",
            "requests.Session().post",
            "requests.Session().get",
            "requests.Session().put",
            "requests.session().post",
            "requests.session().get",
            "httpx.Client().post",
            "httpx.Client().get",
            "httpx.AsyncClient().post",
            "httpx.AsyncClient().get",
            "aiohttp.ClientSession().post",
            "aiohttp.ClientSession().get",
            "urllib3.PoolManager().request",
            "http.client.HTTPSConnection().request",
            "http.client.HTTPConnection().request",
            "websocket.create_connection",
            "websockets.connect",
            "socket.gethostbyname",
            "socket.getaddrinfo",
            "dns.resolver.resolve",
        ],
        Effect::Request,
    ),
    (&["socket.create_connection", "socket.socket().connect"], Effect::Connect),
    (
        &[
            "socket.socket().sendall",
            "socket.socket().send",
            "socket.socket().sendto",
            "smtplib.SMTP().sendmail",
            "smtplib.SMTP_SSL().sendmail",
            "smtplib.SMTP().send_message",
            "smtplib.SMTP_SSL().send_message",
            "ftplib.FTP().storbinary",
        ],
        Effect::SendRaw,
    ),
    (&["os.dup2", "pty.spawn"], Effect::JoinStreams),
    (
        &[
            "os.system",
            "os.popen",
            "commands.getoutput",
            "subprocess.getoutput",
            "subprocess.getstatusoutput",
            "asyncio.create_subprocess_shell",
        ],
        Effect::Shell,
    ),
    (
        &[
            "subprocess.run",
            "subprocess.call",
            "subprocess.Popen",
            "subprocess.check_output",
            "subprocess.check_call",
            "asyncio.create_subprocess_exec",
            "os.execvp",
            "os.execv",
            "os.execl",
            "os.execlp",
            "os.spawnl",
        ],
        Effect::Program,
    ),
    (
        &[
            "exec",
            "eval",
            "builtins.exec",
            "builtins.eval",
            "__builtins__.exec",
            "__builtins__.eval",
            "compile",
            "builtins.compile",
            "code.InteractiveInterpreter().runsource",
        ],
        Effect::Code,
    ),
    (&["urllib.request.urlretrieve", "wget.download"], Effect::Save),
    (
        &[
            "ctypes.CDLL",
            "ctypes.cdll.LoadLibrary",
            "runpy.run_path",
            "os.startfile",
            "execfile",
            "ctypes.PyDLL",
        ],
        Effect::RunFile,
    ),
    (
        &["pickle.loads", "pickle.load", "dill.loads", "cloudpickle.loads", "yaml.unsafe_load"],
        Effect::Unpickle,
    ),
    (
        &[
            "marshal.loads",
            "zlib.decompress",
            "gzip.decompress",
            "bz2.decompress",
            "lzma.decompress",
            "base64.b85decode",
            "base64.a85decode",
            "base64.b32decode",
            "binascii.a2b_base64",
        ],
        Effect::Gives(Source::Decode(Codec::Other)),
    ),
    (
        &["base64.b64decode", "base64.urlsafe_b64decode", "base64.standard_b64decode", "base64.decodebytes"],
        Effect::Gives(Source::Decode(Codec::Base64)),
    ),
    (
        &["bytes.fromhex", "bytearray.fromhex", "binascii.unhexlify", "binascii.a2b_hex"],
        Effect::Gives(Source::Decode(Codec::Hex)),
    ),
    (&["codecs.decode"], Effect::Gives(Source::Decode(Codec::Rot13))),
    (&["open", "io.open", "codecs.open", "aiofiles.open"], Effect::Open),
    (
        &[
            "shutil.copy",
            "shutil.copy2",
            "shutil.copyfile",
            "shutil.move",
            "shutil.make_archive",
            "shutil.copytree",
            "os.rename",
            "os.replace",
        ],
        Effect::CopyFile,
    ),
    (&["sqlite3.connect", "linecache.getlines"], Effect::ReadFile),
    (&["shutil.rmtree"], Effect::DeleteTree),
    (&["os.remove", "os.unlink"], Effect::DeleteFile),
    (&["os.walk", "glob.glob", "glob.iglob", "os.scandir", "os.listdir"], Effect::Gives(Source::Walk)),
    (
        &[
            "os.getenv",
            "os.environ.get",
            "os.environ.copy",
            "os.environ.items",
            "os.environ.values",
            "environ.get",
        ],
        Effect::Gives(Source::Environment),
    ),
    (&["input", "sys.stdin.read", "sys.stdin.readline", "sys.stdin.readlines"], Effect::Gives(Source::Input)),
    (
        &[
            "platform.node",
            "socket.gethostname",
            "getpass.getuser",
            "os.getlogin",
            "platform.uname",
            "platform.platform",
            "os.uname",
            "uuid.getnode",
            "platform.machine",
            "platform.system",
        ],
        Effect::Gives(Source::Host),
    ),
    (
        &[
            "pyperclip.paste",
            "PIL.ImageGrab.grab",
            "ImageGrab.grab",
            "pyautogui.screenshot",
            "cv2.VideoCapture",
            "sounddevice.rec",
        ],
        Effect::Gives(Source::Personal),
    ),
    (
        &[
            "win32crypt.CryptUnprotectData",
            "browser_cookie3.chrome",
            "browser_cookie3.load",
            "browser_cookie3.firefox",
            "secretstorage.dbus_init",
        ],
        Effect::Gives(Source::Secret),
    ),
    (
        &[
            "pynput.keyboard.Listener",
            "keyboard.on_press",
            "keyboard.hook",
            "keyboard.record",
            "pyHook.HookManager",
            "pyxhook.HookManager",
            "keyboard.on_release",
            "keyboard.read_event",
        ],
        Effect::Gives(Source::Watch),
    ),
    (&["pathlib.Path.home", "Path.home"], Effect::Gives(Source::Home)),
    (&["os.path.join"], Effect::Gives(Source::JoinPath)),
    (&["chr"], Effect::Gives(Source::Character)),
    (&["map"], Effect::Gives(Source::Map)),
    (&["__import__", "importlib.import_module", "builtins.__import__"], Effect::Gives(Source::Module)),
    (&["getattr"], Effect::Gives(Source::GetMember)),
    (
        &[
            "os.path.expanduser",
            "pathlib.Path",
            "str",
            "os.path.abspath",
            "os.path.expandvars",
            "os.fspath",
            "bytes",
            "repr",
            "os.path.normpath",
            "os.path.realpath",
            "shlex.split",
            "list",
            "tuple",
            "bytearray",
            "os.fsencode",
            "reversed",
        ],
        Effect::Gives(Source::Same),
    ),
];

/// Functions of JavaScript, Node and packages that many use.
const JAVASCRIPT: &[(&[&str], Effect)] = &[
    (
        &[
            "fetch",
            "axios",
            "axios.get",
            "axios.post",
            "axios.put",
            "axios.request",
            "axios.patch",
            "got",
            "got.post",
            "got.get",
            "https.request",
            "https.get",
            "http.request",
            "http.get",
            "request",
            "request.post",
            "request.get",
            "superagent.post",
            "navigator.sendBeacon",
            "WebSocket",
            "node-fetch",
            "undici.fetch",
            "undici.request",
            "globalThis.fetch",
            "window.fetch",
            "dns.resolve",
            "dns.lookup",
            "dns.resolve4",
            "needle.post",
            "ky.post",
            "ky.get",
        ],
        Effect::Request,
    ),
    (&["net.connect", "net.createConnection", "net.Socket", "tls.connect"], Effect::Connect),
    (&["child_process.exec", "child_process.execSync"], Effect::Shell),
    (
        &[
            "child_process.spawn",
            "child_process.spawnSync",
            "child_process.execFile",
            "child_process.execFileSync",
            "Bun.spawn",
            "execa",
        ],
        Effect::Program,
    ),
    (
        &[
            "eval",
            "Function",
            "vm.runInNewContext",
            "vm.runInThisContext",
            "vm.Script",
            "globalThis.eval",
            "window.eval",
        ],
        Effect::Code,
    ),
    (&["process.dlopen"], Effect::RunFile),
    (&["atob"], Effect::Gives(Source::Decode(Codec::Base64))),
    (&["Buffer.from"], Effect::Gives(Source::Decode(Codec::Other))),
    (&["zlib.gunzipSync", "zlib.inflateSync", "zlib.unzipSync"], Effect::Gives(Source::Decode(Codec::Other))),
    (
        &[
            "fs.readFileSync",
            "fs.readFile",
            "fs.promises.readFile",
            "fs.createReadStream",
            "fs.readdirSync",
            "Deno.readTextFile",
            "fs.promises.readdir",
            "Bun.file",
        ],
        Effect::ReadFile,
    ),
    (
        &[
            "fs.writeFileSync",
            "fs.writeFile",
            "fs.appendFileSync",
            "fs.appendFile",
            "fs.promises.writeFile",
            "fs.promises.appendFile",
            "Deno.writeTextFile",
            "fs.createWriteStream",
        ],
        Effect::WriteFile,
    ),
    (&["fs.copyFileSync", "fs.copyFile", "fs.renameSync", "fs.cpSync"], Effect::CopyFile),
    (&["fs.rmSync", "fs.rm", "fs.rmdirSync", "fs.promises.rm", "rimraf"], Effect::DeleteTree),
    (&["fs.unlinkSync", "fs.unlink", "fs.promises.unlink"], Effect::DeleteFile),
    (&["os.homedir"], Effect::Gives(Source::Home)),
    (
        &["os.hostname", "os.userInfo", "os.networkInterfaces", "os.platform", "os.release"],
        Effect::Gives(Source::Host),
    ),
    (
        &["clipboardy.read", "clipboardy.readSync", "navigator.clipboard.readText"],
        Effect::Gives(Source::Personal),
    ),
    (&["keytar.getPassword", "keytar.findCredentials"], Effect::Gives(Source::Secret)),
    (&["path.join", "path.resolve"], Effect::Gives(Source::JoinPath)),
    (&["String.fromCharCode", "String.fromCodePoint"], Effect::Gives(Source::Character)),
    (&["require", "import"], Effect::Gives(Source::Module)),
    (
        &[
            "String",
            "JSON.stringify",
            "encodeURIComponent",
            "Object.assign",
            "Object.entries",
            "Object.keys",
            "Object.values",
            "btoa",
        ],
        Effect::Gives(Source::Same),
    ),
];

/// What a method does whatever its object is.
fn method(dialect: Dialect, name: &str) -> Option<Effect> {
    let both = match name {
        "decode" | "encode" | "strip" | "lower" | "format" | "toString" | "trim" | "expanduser"
        | "resolve" | "absolute" | "as_posix" | "splitlines" | "then" | "catch" | "concat" | "slice"
        | "reverse" | "split" | "copy" | "absolutePath" => Some(Effect::Gives(Source::Same)),
        "join" => Some(Effect::Gives(Source::JoinText)),
        "encrypt" | "encrypt_and_digest" => Some(Effect::Gives(Source::Encrypt)),
        "sendall" | "sendMail" | "sendmail" | "send_message" | "upload_file" | "put_object"
        | "upload_fileobj" | "storbinary" => Some(Effect::SendRaw),
        "recv" => Some(Effect::Receive),
        _ => None,
    };
    both.or(match (dialect, name) {
        (Dialect::Python, "read_text" | "read_bytes") => Some(Effect::ReadSelf),
        (Dialect::Python, "write_text" | "write_bytes" | "write" | "writelines") => Some(Effect::WriteSelf),
        (Dialect::Python, "rglob" | "iterdir" | "glob") => Some(Effect::Gives(Source::Walk)),
        (Dialect::Python, "unlink") => Some(Effect::DeleteFile),
        (Dialect::Python, "open") => Some(Effect::Open),
        (Dialect::Python, "joinpath") => Some(Effect::Gives(Source::JoinPath)),
        (Dialect::JavaScript, "write" | "end" | "send") => Some(Effect::SendRaw),
        _ => None,
    })
}
